// The assistant's ranges of a prompt: what it wrote, or is to learn to write.
//
// Most templates have no {% generation %} tags. For those a range begins where a prompt that asks for the turn would
// end, since everything up to there is given to the model and everything behind it is its own. That prompt is rendered,
// rather than guessed from the header's text: once, for conversations of ours (openings.h), and for the request's own
// where those do not tell.
#pragma once
#include <vector>

#include "jinja/machine/turns.h"
#include "parlance/template.h"

namespace parlance {

/// False: all of its messages are of others, so there is nothing that the assistant said.
bool may_have_words(const Conversation& conversation);

/// From the generation tags' ranges.
void fill_from_tags(Rendering& into);

/// What is known of the ranges at once, so that nobody has to look for it.
struct AssistantRanges {
  bool of_each = true;        ///< each message of the assistant has one, with words of its own
  bool has_unlearnt = false;  ///< one is of a message that is not to be learnt
};

/// From provenance: each assistant message's turn, from where the prompt for it ends: what the template writes of the
/// messages before it with a generation prompt. So it does not depend on the messages behind it. Where history is
/// written otherwise than that, the header of a turn is what it has in common with the generation prompt.
/// The template, a Jinja one, may have to be run again for that. The conversation has messages.
AssistantRanges fill_assistant(const Template& chat_template, const Conversation& conversation,
                               const RenderOptions& options, const std::vector<jinja::Turn>& turns, Rendering& into);

}  // namespace parlance
