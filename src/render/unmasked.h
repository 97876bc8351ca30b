// Text of assistants that is in no mask, by request or unasked. A template may write a message outside of its loop and
// refuse the shorter conversations that would show what is whose; who trains on the prompt has to know.
#pragma once
#include "parlance/template.h"

namespace parlance {

/// Notes the assistant's messages of which the prompt has words, and its assistant's ranges have none.
void note_unmasked(const Conversation& conversation, Rendering& prompt);

/// Is the message one that data for training wants not to be learnt?
bool has_weight_0(Value message);
/// Takes messages with `weight: 0` out of the assistant's ranges: data for training says so of turns that are not to be
/// learnt. Source: OpenAI's fine-tuning guide, whose weights are 0 and 1.
void leave_out_weight_0(const Conversation& conversation, Rendering& prompt);

}  // namespace parlance
