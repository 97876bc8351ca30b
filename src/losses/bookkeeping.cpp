// The tables of names, sorted, and what counts as words. Begin reading at is_bookkeeping.
#include "losses/bookkeeping.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "conversation/request_members.h"
#include "losses/text_search.h"
#include "value/string.h"

namespace parlance {
namespace {

/// What the last word of a name says: tool_use_id, createdAt.
constexpr std::string_view kEnds[] = {"_id",   "_ids",  "Id",        "Ids",       "_at", "At",
                                      "_time", "_date", "timestamp", "Timestamp", "uuid"};

/// Members of messages, calls and parts: of what OpenAI's, Anthropic's and Gemini's clients and servers have, of what
/// LiteLLM, OpenRouter, vLLM and the AI SDK add to it, and of data sets.
constexpr std::string_view kBookkeeping[] = {
    "annotations",
    "cache_control",
    "caller",
    "citations",
    "cost",
    "created",
    "date",
    "datetime",
    "done_reason",
    "encrypted_content",
    "extra_content",
    "feedback",
    "finish_reason",
    "id",
    "ids",
    "index",
    "lang",
    "language",
    "logprobs",
    "loss_mask",
    "matched_stop",
    "meta",
    "metadata",
    "model",
    "native_finish_reason",
    "object",
    "phase",
    "providerMetadata",
    "providerOptions",
    "provider_metadata",
    "provider_specific_fields",
    "rating",
    "reasoning_signature",
    "response_metadata",
    "score",
    "service_tier",
    "signature",
    "state",
    "status",
    "stop_reason",
    "stop_sequence",
    "system_fingerprint",
    "tags",
    "thoughtSignature",
    "thought_signature",
    "time",
    "type",
    "usage",
    "usage_metadata",
    "weight",
};
static_assert(std::is_sorted(std::begin(kBookkeeping), std::end(kBookkeeping)));

/// Members of a request beside those that a pass drops: of OpenAI and of servers that take its requests (vLLM, SGLang,
/// llama.cpp, LM Studio, OpenRouter, LiteLLM, Groq, Mistral, DashScope), of Anthropic and Responses; a line of a batch;
/// columns of a data set. Those that are numbers or booleans are not here, since such say nothing in words.
constexpr std::string_view kOfRequest[] = {
    "adapter",
    "allowed_openai_params",
    "anthropic_beta",
    "anthropic_version",
    "api_base",
    "api_key",
    "api_version",
    "bad_words",
    "base_url",
    "betas",
    "bootstrap_host",
    "cache_salt",
    "categories",
    "category",
    "chat_format",
    "chat_template_content_format",
    "citation_options",
    "compound_custom",
    "container",
    "context_length_exceeded_behavior",
    "context_management",
    "custom_llm_provider",
    "custom_logit_processor",
    "custom_params",
    "dataset",
    "difficulty",
    "domain",
    "draft_model",
    "dry_sequence_breakers",
    "extra_headers",
    "extra_query",
    "fallbacks",
    "grammar_triggers",
    "guided_decoding_backend",
    "guided_whitespace_pattern",
    "hash",
    "include",
    "kv_transfer_params",
    "label",
    "license",
    "litellm_params",
    "logits_processors",
    "lora",
    "lora_path",
    "media_io_kwargs",
    "method",
    "mm_processor_kwargs",
    "mock_response",
    "models",
    "name",
    "origin",
    "plugins",
    "preserved_tokens",
    "preset",
    "prompt_cache_retention",
    "provider",
    "quality",
    "reasoning_format",
    "reasoning_split",
    "response_fields",
    "rid",
    "route",
    "safety_model",
    "safety_settings",
    "samplers",
    "search_mode",
    "search_options",
    "search_parameters",
    "search_settings",
    "session_params",
    "source",
    "speed",
    "split",
    "stop_regex",
    "stop_sequences",
    "structural_tag",
    "subset",
    "tag",
    "task",
    "title",
    "topic",
    "topics",
    "trace",
    "transforms",
    "truncation",
    "url",
    "user_location",
    "verbosity",
    "vllm_xargs",
    "web_search_options",
};
static_assert(std::is_sorted(std::begin(kOfRequest), std::end(kOfRequest)));

}  // namespace

bool is_bookkeeping(std::string_view name) {
  return std::binary_search(std::begin(kBookkeeping), std::end(kBookkeeping), name) ||
         std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

bool is_bookkeeping_of_request(std::string_view name) {
  return is_bookkeeping(name) || is_request_member(name) ||
         std::binary_search(std::begin(kOfRequest), std::end(kOfRequest), name);
}

namespace {
/// The words of a value, bookkeeping and types aside, one behind the other. False: it says more than words.
bool add_words(Value value, std::string& words) {
  if (value.is_string()) {
    for_each_piece(value, [&](std::string_view piece) { words += piece; });
    return true;
  }
  if (value.is_sequence()) return std::ranges::all_of(items(value), [&](Value one) { return add_words(one, words); });
  if (value.kind != Kind::dict) return value.is_none() || value.kind == Kind::boolean;
  return std::ranges::all_of(entries(value), [&](const DictEntry& one) {
    return is_bookkeeping(leaf_text(one.key)) || add_words(one.value, words);
  });
}
}  // namespace

bool says_the_same(Value value, Value other) {
  std::string words, others;
  return add_words(value, words) && add_words(other, others) && words == others;
}

bool has_data(Value value) {
  if (value.is_string()) return has_words(value);
  if (value.is_sequence()) return std::ranges::any_of(items(value), has_data);
  return value.kind == Kind::dict &&
         std::ranges::any_of(entries(value), [](const DictEntry& one) { return has_content(one.value); });
}

}  // namespace parlance
