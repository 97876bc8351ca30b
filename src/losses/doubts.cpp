// Each member is taken out, the request is rendered, and the prompts are compared.
#include "losses/doubts.h"

#include <algorithm>

#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "render/render_with.h"

namespace parlance {
namespace {

/// The same value without the member that the steps lead to.
Value without(Runtime& rt, Value of, std::span<const Doubt::Step> steps) {
  const Doubt::Step& step = steps.front();
  const std::span<const Doubt::Step> rest = steps.subspan(1);
  if (step.index >= 0) {
    ListEditor list(rt, of);
    const auto number = static_cast<std::uint32_t>(step.index);
    list.set(number, without(rt, list[number], rest));
    return list.finish();
  }
  if (rest.empty()) return filtered(rt, of, [&](std::string_view key) { return key != step.name; });
  return with_member(rt, of, step.name, without(rt, member_value(of, step.name), rest));
}

}  // namespace

void find_doubtful(const Experiment& experiment, std::span<const Doubt> doubts, std::size_t most,
                   const Rendering& rendering, std::vector<Loss>& losses) {
  RenderOptions options = experiment.options;
  options.want_spans = options.want_assistant = options.want_undefined = false;
  Rendering made;
  for (const Doubt& doubt : doubts.first(std::min(doubts.size(), most))) {
    Arena arena;
    const Limits limits;
    Runtime rt(arena, limits);
    const Value variables = without(rt, experiment.conversation.variables(), doubt.steps);
    const bool is_lost = render_with(experiment.chat_template, experiment.conversation, variables, options,
                                     experiment.workspace, made) &&
                         made.text() == rendering.text();
    if (is_lost) losses.push_back(doubt.loss);
  }
}

}  // namespace parlance
