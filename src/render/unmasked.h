// Text of assistants that is in no mask, by request or unasked. A template may write a message outside of its loop and
// refuse the shorter conversations that would show what is whose; who trains on the prompt has to know.
#pragma once
#include "conversation/learnt.h"
#include "parlance/template.h"

namespace parlance {

/// Notes the assistant's messages of which the prompt has words, and its assistant's ranges have none.
void note_unmasked(const Conversation& conversation, Rendering& prompt);

/// Takes messages that are not to be learnt (is_unlearnt) out of the assistant's ranges.
void leave_out_unlearnt(const Conversation& conversation, Rendering& prompt);

}  // namespace parlance
