// Begin reading at set_answer_form.
#include "serve/fronts/answer_form.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "base/sha256.h"
#include "serve/fronts/request_parts.h"
#include "serve/json/members.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kSignature = 24;  // of the digits

/// Clients throw thinking away that is not signed; nobody checks it here.
std::string signature_of(std::string_view thinking) { return encode_base64(sha256(thinking).substr(0, kSignature)); }

void set_of_anthropic(Value thinking, ReplyApiOptions& options) {
  options.sign_reasoning = signature_of;
  if (!is_given(thinking) || thinking["type"].text() == "disabled") {
    options.reasoning = ShownReasoning::none;
  } else if (thinking["display"].text() == "omitted") {
    options.reasoning = ShownReasoning::signed_only;
    options.sign_reasoning = seal_reasoning;
  }
}

void set_of_responses(Value body, ReplyApiOptions& options) {
  for (const std::string_view name : {"summary", "generate_summary"})
    options.reasoning_summary = options.reasoning_summary || !body["reasoning"][name].text().empty();
  const bool encrypts = std::ranges::any_of(body["include"].items(),
                                            [](Value name) { return name.text() == "reasoning.encrypted_content"; });
  if (encrypts) options.encrypt_reasoning = seal_reasoning;
  options.namespaces = namespaced_tools(body);
  options.tool_types = client_tool_types(body);
}

bool is_false(Value member) { return member.is(Kind::boolean) && member.integer == 0; }

/// By the names of vLLM and OpenRouter, and of SGLang and llama.cpp.
void set_of_chat(Value body, ReplyApiOptions& options) {
  const Value excluded = body["reasoning"]["exclude"];
  options.null_reasoning = true;
  options.usage_in_chunks = flag_of(body["stream_options"]["continuous_usage_stats"], false);
  if (is_false(body["separate_reasoning"]) || body["reasoning_format"].text() == "none")
    options.reasoning = ShownReasoning::as_text;
  if (is_false(body["include_reasoning"]) || flag_of(excluded, false)) options.reasoning = ShownReasoning::none;
}

}  // namespace

void set_answer_form(Value body, ReplyApi api, ReplyApiOptions& options) {
  const Value think = body["think"];
  if (api == ReplyApi::anthropic) set_of_anthropic(body["thinking"], options);
  if (api == ReplyApi::responses) set_of_responses(body, options);
  if (api == ReplyApi::openai) set_of_chat(body, options);
  if (api == ReplyApi::ollama && is_false(think)) options.reasoning = ShownReasoning::none;
}

}  // namespace parlance::serve
