// Whether data for training wants a message to be learnt.
#pragma once
#include <algorithm>
#include <string_view>

#include "value/dict.h"

namespace parlance {

/// Members of messages by which data for training says whether a turn is learnt: `weight`, 0 or 1, is OpenAI's (its
/// fine-tuning guide), `train` Axolotl's, `loss` ms-swift's; both are booleans.
constexpr std::string_view kSaysLearnt[] = {"weight", "train", "loss"};

/// Does the value of such a member say that the turn is not learnt? Null, which tables have, says nothing.
inline bool says_unlearnt(Value said) {
  const bool is_whole = said.kind == Kind::integer || said.kind == Kind::boolean;
  return (is_whole && said.integer == 0) || (said.kind == Kind::real && said.real == 0);
}

/// Is the message one that data for training wants not to be learnt? Any of the members may say so.
inline bool is_unlearnt(Value message) {
  return message.kind == Kind::dict && std::ranges::any_of(kSaysLearnt, [message](std::string_view name) {
           return says_unlearnt(member_value(message, name));
         });
}

}  // namespace parlance
