// Marks of a template that are text for a tokenizer: they suggest that it is the tokenizer of another model.
#pragma once
#include "parlance/conversation.h"
#include "parlance/render.h"
#include "tokens/encoded_prompt.h"

namespace parlance {

/// Fills told.plain_marks of a prompt whose tokens are known.
void find_plain_marks(const Rendering& rendering, const Conversation& conversation, EncodedPrompt& into);

}  // namespace parlance
