// The words of each API; see request_words.h. Begin reading at kWords.
#include "apis/request_words.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "apis/request_out.h"
#include "conversation/api_request.h"
#include "conversation/edit.h"

namespace parlance::apis {
namespace {

using api::is_one_of;
using api::word;

constexpr std::string_view kChat[] = {"model",
                                      "messages",
                                      "tools",
                                      "tool_choice",
                                      "parallel_tool_calls",
                                      "response_format",
                                      "reasoning_effort",
                                      "max_tokens",
                                      "max_completion_tokens",
                                      "temperature",
                                      "top_p",
                                      "stop",
                                      "seed",
                                      "n",
                                      "frequency_penalty",
                                      "presence_penalty",
                                      "logit_bias",
                                      "logprobs",
                                      "top_logprobs",
                                      "stream",
                                      "stream_options",
                                      "user",
                                      "metadata",
                                      "store",
                                      "service_tier",
                                      "verbosity",
                                      "prompt_cache_key",
                                      "prompt_cache_retention",
                                      "safety_identifier",
                                      "modalities",
                                      "audio",
                                      "prediction",
                                      "web_search_options",
                                      "functions",
                                      "function_call"};
constexpr std::string_view kAnthropic[] = {"model",
                                           "messages",
                                           "system",
                                           "tools",
                                           "tool_choice",
                                           "thinking",
                                           "output_config",
                                           "output_format",
                                           "metadata",
                                           "stop_sequences",
                                           "max_tokens",
                                           "stream",
                                           "temperature",
                                           "top_p",
                                           "top_k",
                                           "service_tier",
                                           "cache_control",
                                           "container",
                                           "context_management",
                                           "mcp_servers",
                                           "inference_geo",
                                           "speed",
                                           "betas",
                                           "anthropic_version",
                                           "anthropic_beta"};
constexpr std::string_view kResponses[] = {"model",
                                           "input",
                                           "instructions",
                                           "tools",
                                           "tool_choice",
                                           "parallel_tool_calls",
                                           "text",
                                           "reasoning",
                                           "max_output_tokens",
                                           "max_tool_calls",
                                           "temperature",
                                           "top_p",
                                           "top_logprobs",
                                           "stream",
                                           "stream_options",
                                           "user",
                                           "metadata",
                                           "store",
                                           "service_tier",
                                           "prompt_cache_key",
                                           "prompt_cache_retention",
                                           "safety_identifier",
                                           "background",
                                           "context_management",
                                           "conversation",
                                           "include",
                                           "previous_response_id",
                                           "prompt",
                                           "truncation"};
constexpr std::string_view kGemini[] = {
    "model",       "contents",         "systemInstruction", "system_instruction", "tools",           "toolConfig",
    "tool_config", "generationConfig", "generation_config", "safetySettings",     "safety_settings", "labels",
    "store",       "serviceTier",      "service_tier",      "cachedContent",      "cached_content"};

/// A row for each of Words.
constexpr std::span<const std::string_view> kWords[] = {kChat, kAnthropic, kResponses, kGemini};
static_assert(std::size(kWords) == kSetsOfWords);

/// Members that hold several settings, of which one may be set and the others stay.
constexpr std::string_view kOfSeveral[] = {"output_config", "text", "reasoning"};
/// OpenAI's chat has two words for one thing, of which a request has one.
constexpr std::string_view kLengths[] = {"max_tokens", "max_completion_tokens"};

template <std::size_t N>
bool holds(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// {"type": "function", "function": {…}}: what only OpenAI's chat has.
bool is_nested(Value v) {
  constexpr std::string_view kInner[] = {"function", "custom", "allowed_tools"};
  return std::any_of(std::begin(kInner), std::end(kInner),
                     [v](std::string_view name) { return member_value(v, name).kind == Kind::dict; });
}

}  // namespace

bool is_word_of(Words api, std::string_view name) {
  const std::span<const std::string_view> words = kWords[static_cast<std::size_t>(api)];
  return std::find(words.begin(), words.end(), name) != words.end();
}

// Three members have one name and several forms. Their shape tells the API: Anthropic's choice is an object by type,
// OpenAI's chat nests the function, Responses do not.
bool is_in_form_of(Words api, std::string_view name, Value value) {
  if (name == "metadata") return api != Words::anthropic || member(value, "user_id") != nullptr;
  if (name == "tool_choice") {
    if (api == Words::anthropic) return is_one_of(word(value, "type"), {"auto", "any", "tool", "none"});
    return value.is_string() || is_nested(value) == (api == Words::chat);
  }
  if (name != "tools" || value.kind != Kind::list || value.list->size == 0) return true;
  const std::span<const Value> tools = items(value);
  return std::any_of(tools.begin(), tools.end(), is_nested) == (api == Words::chat);
}

// max_tokens and max_completion_tokens mean one thing, so setting either overrules both.
std::vector<std::string> paths_set_by(Words api, std::string_view name, Value value) {
  if (api == Words::chat && holds(kLengths, name)) return {std::begin(kLengths), std::end(kLengths)};
  if (!holds(kOfSeveral, name) || value.kind != Kind::dict) return {std::string(name)};
  std::vector<std::string> paths;
  for (const DictEntry& entry : entries(value))
    paths.push_back(std::string(name) + "." + std::string(leaf_text(entry.key)));
  return paths;
}

Value with_set(Runtime& rt, Value request, Words api, std::string_view name, Value value) {
  if (api == Words::chat && holds(kLengths, name))
    request = filtered(rt, request, [name](std::string_view key) { return key == name || !holds(kLengths, key); });
  const Value before = member_value(request, name);
  if (holds(kOfSeveral, name) && before.kind == Kind::dict && value.kind == Kind::dict)
    value = with_members(rt, before, entries(value));
  return with_member(rt, request, name, value);
}

namespace {

/// Members of which every value says something: an empty object switches search on, and 0 is a seed.
constexpr std::string_view kAlwaysSay[] = {"web_search_options", "seed", "generationConfig.seed",
                                           "generation_config.seed", "options.seed"};

/// Is it what the API takes where nothing is said?
bool is_default(std::string_view path, Value value) {
  if (path == "n" || path == "generationConfig.candidateCount" || path == "generation_config.candidate_count")
    return value.is_small_int() && value.integer == 1;
  if (path == "function_call") return is_text(&value, "auto") || is_text(&value, "none");  // and no functions
  if (path != "modalities" || value.kind != Kind::list || value.list->size != 1) return false;
  return is_text(&value.list->items[0], "text");
}

}  // namespace

bool asks_for_something(std::string_view path, Value value) {
  if (is_default(path, value)) return false;
  return says_something(value) || (is_given(value) && holds(kAlwaysSay, path));
}

}  // namespace parlance::apis
