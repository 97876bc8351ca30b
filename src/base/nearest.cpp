// Optimal string alignment with three rows.
#include "base/nearest.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace parlance {
namespace {

bool same(char a, char b) { return ascii::lower(a) == ascii::lower(b); }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t kLongest = 31;
  if (a.size() > kLongest || b.size() > kLongest) return kLongest;
  using Row = std::array<std::size_t, kLongest + 1>;
  Row before{}, last{}, row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
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
