// Compares requests with limits.
#include "serve/models/limits.h"

namespace parlance::serve {

Result<void> check_messages(const RequestLimits& limits, std::size_t messages) {
  if (limits.messages == 0 || messages <= limits.messages) return {};
  return Error(ErrorCode::conversation, "the conversation has " + std::to_string(messages) +
                                            " messages, and this server takes at most " +
                                            std::to_string(limits.messages))
      .input("messages");
}

Result<void> limit_reply(const RequestLimits& limits, SamplingSettings& sampling) {
  if (limits.reply_tokens == 0) return {};
  const std::optional<std::int64_t> asked = sampling.integer(Setting::max_tokens);
  if (!asked) sampling.values.emplace_back(Setting::max_tokens, std::to_string(limits.reply_tokens));
  if (!asked || *asked <= limits.reply_tokens) return {};
  return Error(ErrorCode::conversation, "max_tokens is at most " + std::to_string(limits.reply_tokens) + " here")
      .input("max_tokens");
}

}  // namespace parlance::serve
