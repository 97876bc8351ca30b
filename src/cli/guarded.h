// Control tokens in an assistant's own text that were encoded as ordinary text: data for training often has them there
// because its model wrote them, and a model that learns them spelt out is spoilt.
#pragma once
#include <cstdint>
#include <mutex>
#include <set>

#include "parlance/tokens.h"

namespace parlance::cli {

/// Of one prompt, or of many lines. Threads: any may add.
class GuardedOfAssistants {
 public:
  void add(const Rendering& rendering, const Conversation& conversation, const PromptTokens& tokens);
  /// Says it on standard error, if there was any. `lines`: of how many, 0 for one prompt.
  void report(const Tokenizer& tokenizer, std::uint64_t lines) const;

 private:
  std::mutex mutex_;
  std::set<TokenId> ids_;
  std::uint64_t prompts_ = 0;
};

}  // namespace parlance::cli
