// Counts steps that repeat. Begin reading at Repetition::add.
#include "agent_loop/repetition.h"

#include <algorithm>

namespace parlance {

unsigned Repetition::add(std::string step) {
  steps_.push_front(std::move(step));
  if (steps_.size() > kRemembered) steps_.pop_back();
  std::size_t most = 1;
  for (std::size_t circle = 1; circle <= kLongestCircle; ++circle) most = std::max(most, times(circle));
  return static_cast<unsigned>(most);
}

std::size_t Repetition::times(std::size_t circle) const {
  std::size_t at = circle;
  while (at < steps_.size() && steps_[at] == steps_[at - circle]) ++at;
  return at / circle;
}

}  // namespace parlance
