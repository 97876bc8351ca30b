// The memory of a changed request lives as long as its render: a rendering owns its text.
#include "losses/experiment.h"

#include "conversation/conversation.h"

namespace parlance {

Trial::Trial(const Experiment& experiment, With with) : experiment_(experiment), options_(experiment.options) {
  options_.want_spans = with == With::spans;
  options_.want_assistant = options_.want_undefined = false;
}

const Rendering* Trial::render(const Change& change) {
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  const Value variables = change(rt, experiment_.conversation.variables());
  const bool done = static_cast<bool>(render_with(experiment_.chat_template, experiment_.conversation, variables,
                                                  options_, experiment_.workspace, made_));
  return done ? &made_ : nullptr;
}

std::optional<std::string_view> Trial::text(const Change& change) {
  const Rendering* const made = render(change);
  return made == nullptr ? std::nullopt : std::optional(made->text());
}

}  // namespace parlance
