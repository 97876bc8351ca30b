// Looking builtins up by name, and the nearest name for a misspelt one.
#include "engine/builtin.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/nearest.h"

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

}  // namespace

const Builtin* find_builtin(std::span<const Builtin> table, std::string_view name) {
  for (const Builtin& row : table) {
    if (equal_bytes(row.name, name)) return &row;
  }
  for (const Builtin& row : table) {
    if (!row.aliases.empty() && any_name(row, [&](std::string_view n) { return n == name; })) return &row;
  }
  return nullptr;
}

std::string nearest_name(std::span<const Builtin> table, std::string_view name) {
  NearestName nearest(name);
  for (const Builtin& row : table) {
    any_name(row, [&](std::string_view candidate) {
      nearest.offer(candidate);
      return false;
    });
  }
  return nearest.best();
}

}  // namespace parlance
