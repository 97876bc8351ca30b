// Writes a GenerateRequest. Begin reading at generate_request.
#include "serve/fronts/engine_wire.h"

#include <algorithm>
#include <array>

#include "parlance/json.h"
#include "serve/backends/ids_json.h"
#include "serve/fronts/request_parts.h"

namespace parlance::serve {

namespace {

/// vLLM's names of the settings, in the order of Setting.
constexpr std::array<std::string_view, kSettings> kEngineNames = {
    "max_tokens",        "temperature",        "top_p", "top_k",      "min_p",      "",          "presence_penalty",
    "frequency_penalty", "repetition_penalty", "seed",  "logit_bias", "ignore_eos", "min_tokens"};

/// Members of requests that the sampling parameters have under the same name.
constexpr std::string_view kSameNames[] = {"n",
                                           "bad_words",
                                           "allowed_token_ids",
                                           "prompt_logprobs",
                                           "logprob_token_ids",
                                           "include_stop_str_in_output",
                                           "spaces_between_special_tokens",
                                           "thinking_token_budget",
                                           "repetition_detection",
                                           "stream_interval",
                                           "watermarking",
                                           "routed_experts_prompt_start"};

/// The tokens that the request names, then those that end a reply of this model.
std::vector<TokenId> stop_ids_of(const GenerateWire& wire) {
  return stops_of(wire.model, wire.sampling.stop_ids, flag_of(wire.request["ignore_eos"], false));
}

/// How many alternatives of each token; nothing: no logprobs.
std::optional<std::int64_t> logprobs_asked(const GenerateWire& wire) {
  const Value request = wire.request;
  const Value top = request["top_logprobs"];
  const std::int64_t most = top.is_small_int() ? top.integer : 0;
  const Value wanted = request["logprobs"];
  if (is_given(request["logprob_token_ids"])) return std::nullopt;
  if (wire.api == RenderedApi::completions)
    return wanted.is_small_int() ? std::optional<std::int64_t>(wanted.integer) : std::nullopt;
  if (wire.api == RenderedApi::responses)
    return includes_logprobs(request) ? std::optional<std::int64_t>(most) : std::nullopt;
  return flag_of(wanted, false) ? std::optional<std::int64_t>(most) : std::nullopt;
}

std::string sampling_params(const GenerateWire& wire) {
  const Value request = wire.request;
  JsonWriter out('{');
  wire.sampling.write(out, kEngineNames);
  for (const std::string_view name : kSameNames) {
    if (is_given(request[name])) out.raw(name, json_text(request[name]));
  }
  if (!wire.sampling.stop.empty()) {
    JsonWriter stops('[');
    for (const std::string& stop : wire.sampling.stop) stops.item_text(stop);
    out.raw("stop", stops.take());
  }
  if (const std::vector<TokenId> ids = stop_ids_of(wire); !ids.empty()) out.raw("stop_token_ids", ids_json(ids));
  if (const std::optional<std::int64_t> logprobs = logprobs_asked(wire)) out.number("logprobs", *logprobs);
  // The reply is read by its control tokens, so that the engine must not drop them.
  const bool skips = wire.api == RenderedApi::completions && !request["skip_special_tokens"].is(Kind::boolean);
  out.flag("skip_special_tokens", skips || flag_of(request["skip_special_tokens"], false));
  constexpr std::int64_t kDelta = 1, kFinalOnly = 2;
  out.number("output_kind", flag_of(request["stream"], false) ? kDelta : kFinalOnly);
  if (wire.own != nullptr)
    out.raw("structured_outputs", *wire.own);
  else if (wire.grammar != nullptr)
    out.raw("structured_outputs", JsonWriter('{').text("structural_tag", *wire.grammar).take());
  if (is_given(request["vllm_xargs"])) out.raw("extra_args", json_text(request["vllm_xargs"]));
  return out.take();
}

void copy(JsonWriter& out, Value request, std::string_view name) {
  const Value value = request[name];
  is_given(value) ? out.raw(name, json_text(value)) : out.null(name);
}

void write_or_null(JsonWriter& out, std::string_view name, std::string_view json) {
  json.empty() ? out.null(name) : out.raw(name, json);
}

}  // namespace

std::string generate_request(const GenerateWire& wire) {
  const Value request = wire.request;
  const bool streams = flag_of(request["stream"], false);
  JsonWriter out('{');
  out.text("request_id", wire.id);
  append_ids_json(out.key("token_ids"), wire.ids);
  write_or_null(out, "token_offsets", wire.offsets);
  out.null("features").raw("sampling_params", sampling_params(wire));
  copy(out, request, "model");
  // The grammar has the reasoning too, so it binds from the first token on.
  const bool binds = wire.grammar != nullptr && wire.own == nullptr;
  binds ? out.flag("reasoning_ended", true) : out.null("reasoning_ended");
  if (wire.api == RenderedApi::completions) {
    out.null("reasoning_parser_kwargs");
  } else {
    const Value given = request["chat_template_kwargs"];
    const std::string variables = given.is(Kind::dict) ? json_text(given) : "{}";
    out.raw("reasoning_parser_kwargs", JsonWriter('{').raw("chat_template_kwargs", variables).take());
  }
  copy(out, request, "return_token_ids");
  out.text("output_mode", "tokens");
  write_or_null(out, "parse_context", wire.parse_context);
  out.flag("stream", streams);
  streams ? copy(out, request, "stream_options") : static_cast<void>(out.null("stream_options"));
  copy(out, request, "cache_salt");
  const Value priority = request["priority"];
  out.number("priority", priority.is_small_int() ? priority.integer : 0);
  copy(out, request, "kv_transfer_params");
  copy(out, request, "ec_transfer_params");
  return out.take();
}

}  // namespace parlance::serve
