// Looking builtins up by name, and the nearest name for a misspelt one.
#include "engine/builtin.h"

#include <algorithm>
#include <array>

namespace parlance {
namespace {

/// Calls visit(name) for the canonical name and each alias until it returns true.
template <typename Visit>
bool any_name(const Builtin& row, Visit visit) {
  if (visit(row.name)) return true;
  std::string_view rest = row.aliases;
  while (!rest.empty()) {
    std::size_t blank = std::min(rest.find(' '), rest.size());
    if (visit(rest.substr(0, blank))) return true;
    rest.remove_prefix(blank == rest.size() ? blank : blank + 1);
  }
  return false;
}

/// Levenshtein distance of two short names; names past 31 bytes count as far away.
std::size_t distance(std::string_view a, std::string_view b) {
  constexpr std::size_t kLongest = 31;
  if (a.size() > kLongest || b.size() > kLongest) return kLongest;
  std::array<std::size_t, kLongest + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

const Builtin* find_builtin(std::span<const Builtin> table, std::string_view name) {
  for (const Builtin& row : table) {
    if (row.name == name) return &row;
  }
  for (const Builtin& row : table) {
    if (!row.aliases.empty() && any_name(row, [&](std::string_view n) { return n == name; })) return &row;
  }
  return nullptr;
}

std::string nearest_name(std::span<const Builtin> table, std::string_view name) {
  std::size_t best = std::min<std::size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  for (const Builtin& row : table) {
    any_name(row, [&](std::string_view candidate) {
      std::size_t d = distance(name, candidate);
      if (d < best) {
        best = d;
        nearest = candidate;
      }
      return false;
    });
  }
  return nearest;
}

}  // namespace parlance
