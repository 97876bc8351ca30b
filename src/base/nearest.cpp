// Levenshtein distance with one row.
#include "base/nearest.h"

#include <algorithm>
#include <array>

namespace parlance {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t kLongest = 31;
  if (a.size() > kLongest || b.size() > kLongest) return kLongest;
  std::array<std::size_t, kLongest + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

NearestName::NearestName(std::string_view wanted)
    : wanted_(wanted), distance_(std::min<std::size_t>(2, wanted.size() / 3) + 1) {}

void NearestName::offer(std::string_view name) {
  const std::size_t distance = edit_distance(wanted_, name);
  if (distance >= distance_) return;
  distance_ = distance;
  best_ = name;
}

std::string NearestName::hint() const { return best_.empty() ? std::string() : "did you mean '" + best_ + "'?"; }

}  // namespace parlance
