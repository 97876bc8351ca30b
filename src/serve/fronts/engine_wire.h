// The wire between vLLM's render tier and its engines: GenerateRequest, and the sampling parameters in it.
//
// /render answers with a GenerateRequest, which the client sends to an engine's /inference/v1/generate as it is.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "parlance/json_writer.h"
#include "serve/models/model.h"

namespace parlance::serve {

/// The API whose request is rendered: they name the wish for logprobs differently.
enum class RenderedApi : std::uint8_t { chat, messages, responses, completions };

/// What a GenerateRequest is made of.
struct GenerateWire {
  const ServedModel& model;
  RenderedApi api;
  Value request;  ///< the whole request
  const SamplingSettings& sampling;
  std::string_view id;
  std::span<const TokenId> ids{};
  const std::string* grammar = nullptr;  ///< a structural tag; null: none
  const std::string* own = nullptr;      ///< `structured_outputs` of the client's own, in its place; null: none
  std::string_view offsets{};            ///< JSON of `token_offsets`; "": none
  std::string_view parse_context{};      ///< JSON; "": none
};

/// The GenerateRequest as JSON. Limits that the request leaves open are left out: the engine decides on them.
std::string generate_request(const GenerateWire& wire);

}  // namespace parlance::serve
