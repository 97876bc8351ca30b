// Finds a model that does the same again and again.
#pragma once
#include <cstddef>
#include <deque>
#include <string>

namespace parlance {

/// Remembers the last steps: a call, and what it gave.
class Repetition {
 public:
  /// How often the last steps are the same one, or the same circle of two to four; 1: they are not.
  unsigned add(std::string step);

 private:
  static constexpr std::size_t kLongestCircle = 4;
  static constexpr std::size_t kRemembered = 64;
  std::size_t times(std::size_t circle) const;
  std::deque<std::string> steps_;
};

}  // namespace parlance
