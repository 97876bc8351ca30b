// The nearest of some names to a misspelt one, for hints.
#pragma once
#include <string>
#include <string_view>

namespace parlance {

/// How many edits make one short name the other: a letter more, less or another, or two neighbours swapped. Capitals
/// do not count; names past 31 bytes count as far away.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Keeps the nearest of the names it is offered: at most two edits away, and a third of the length.
class NearestName {
 public:
  explicit NearestName(std::string_view wanted);
  void offer(std::string_view name);
  /// "" when none is near.
  const std::string& best() const { return best_; }
  /// "did you mean 'x'?", or "".
  std::string hint() const;

 private:
  std::string_view wanted_;
  std::size_t distance_;  ///< what a better name must stay below
  std::string best_;
};

}  // namespace parlance
