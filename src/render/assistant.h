// The assistant's ranges of a prompt: what it wrote, or is to learn to write.
#pragma once
#include "jinja/turns.h"
#include "parlance/template.h"

namespace parlance {

/// From the generation tags' ranges.
void fill_from_tags(Rendering& into);

/// From provenance: each assistant message's turn without its header. The header is what the turn has in common with
/// the generation prompt, which is what the template itself says it writes before the model speaks.
/// Renders once more when the prompt in hand does not show the generation prompt. Fails like render().
Result<void> fill_from_turns(const Template& chat_template, const Conversation& conversation,
                             const RenderOptions& options, const std::vector<jinja::Turn>& turns, Rendering& into);

}  // namespace parlance
