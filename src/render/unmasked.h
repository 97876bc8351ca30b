// Text of assistants that is in no mask. A template may write a message outside of its loop and refuse the shorter
// conversations that would show what is whose; who trains on the prompt has to know.
#pragma once
#include "parlance/template.h"

namespace parlance {

/// Notes the assistant's messages of which the prompt has words, and its assistant's ranges have none.
void note_unmasked(const Conversation& conversation, Rendering& prompt);

}  // namespace parlance
