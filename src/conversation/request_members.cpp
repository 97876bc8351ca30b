// The table, sorted by name.
#include "conversation/request_members.h"

#include <algorithm>
#include <iterator>

namespace parlance {
namespace {

constexpr std::string_view kRequestMembers[] = {
    "audio",
    "frequency_penalty",
    "keep_alive",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "min_p",
    "modalities",
    "model",
    "n",
    "options",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "repetition_penalty",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "top_k",
    "top_logprobs",
    "top_p",
    "truncate",
    "user",
};
static_assert(std::is_sorted(std::begin(kRequestMembers), std::end(kRequestMembers)));

}  // namespace

bool is_request_member(std::string_view key) {
  return std::binary_search(std::begin(kRequestMembers), std::end(kRequestMembers), key);
}

}  // namespace parlance
