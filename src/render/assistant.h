// The assistant's ranges of a prompt: what it wrote, or is to learn to write.
#pragma once
#include "parlance/template.h"

namespace parlance {

/// Fills into.assistant_: the generation tags' ranges, or, for a template without the tag, ranges derived from spans.
void fill_assistant(const Template& chat_template, const Conversation& conversation, const RenderOptions& options,
                    Rendering& into);

}  // namespace parlance
