// Errors in the forms of the APIs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "serve/gateway.h"

namespace parlance::serve {

/// Whose form errors have.
enum class Dialect : std::uint8_t { openai, anthropic, ollama, vllm };

/// The body of an answer that is an error.
std::string error_body(Dialect dialect, const Refusal& refusal);
Task<> refuse(Exchange& exchange, Dialect dialect, const Refusal& refusal);
/// The refusal for what an engine did: 502, 503, 504, or the engine's own status where the request is at fault.
Refusal refusal_of(const EngineFailure& failure);

}  // namespace parlance::serve
