// Reads parts of captures.
#include "serve/recorded_engine.h"

#include <algorithm>

namespace parlance::serve {

CivilTime moment_of(Value list) {
  CivilTime made;
  int* const parts[] = {&made.year, &made.month, &made.day, &made.hour, &made.minute, &made.second, &made.microsecond};
  const std::span<const Value> items = list.items();
  for (std::size_t i = 0; i < std::min(items.size(), std::size(parts)); ++i)
    *parts[i] = static_cast<int>(number_in(items[i]));
  return made;
}

std::vector<TokenId> listed_ids(Value list) {
  std::vector<TokenId> ids;
  for (const Value& id : list.items()) ids.push_back(static_cast<TokenId>(number_in(id)));
  return ids;
}

}  // namespace parlance::serve
