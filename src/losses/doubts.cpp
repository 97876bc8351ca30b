// Each member is taken out, the request is rendered, and the prompts are compared.
#include "losses/doubts.h"

#include <algorithm>

#include "conversation/conversation.h"
#include "conversation/edit.h"

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
  Trial trial(experiment);
  const auto try_without = [&](std::span<const Doubt> some) {
    const bool are_lost = trial.is_same(rendering, [&](Runtime& rt, Value variables) {
      for (const Doubt& doubt : some) variables = without(rt, variables, doubt.steps);
      return variables;
    });
    for (const Doubt& doubt : some)
      if (are_lost) losses.push_back(doubt.loss);
  };
  const std::size_t one_by_one = std::min(doubts.size(), most);
  for (std::size_t i = 0; i < one_by_one; ++i) try_without(doubts.subspan(i, 1));
  if (one_by_one < doubts.size()) try_without(doubts.subspan(one_by_one));
}

}  // namespace parlance
