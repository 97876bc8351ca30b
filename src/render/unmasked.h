// Text of assistants that is in no mask, by request or unasked. A template may write a message outside of its loop and
// refuse the shorter conversations that would show what is whose; who trains on the prompt has to know.
#pragma once
#include <string_view>

#include "parlance/template.h"

namespace parlance {

/// Notes the assistant's messages of which the prompt has words, and its assistant's ranges have none.
void note_unmasked(const Conversation& conversation, Rendering& prompt);

/// Members of messages by which data for training says whether a turn is learnt: `weight`, 0 or 1, is OpenAI's (its
/// fine-tuning guide), `train` Axolotl's, `loss` ms-swift's; both are booleans.
constexpr std::string_view kSaysLearnt[] = {"weight", "train", "loss"};

/// Is the message one that data for training wants not to be learnt?
bool is_unlearnt(Value message);
/// Takes such messages out of the assistant's ranges.
void leave_out_unlearnt(const Conversation& conversation, Rendering& prompt);

}  // namespace parlance
