// Equality of JSON. In a header: two cold modules ask for it, and a file of its own would stand among those that read
// JSON, which are compiled together.
#pragma once
#include <algorithm>
#include <cmath>

#include "json/json.h"
#include "value/dict.h"
#include "value/number.h"

namespace parlance {

/// Whether both are the same JSON: members of objects have no order, and 1 is 1.0 and not true. What is no JSON, such
/// as a NaN, is not even the same as itself. Recursion: as deep as the values.
inline bool same_json(Value a, Value b) {
  const auto is_json_number = [](Value v) {
    return v.kind == Kind::integer || (v.kind == Kind::real && std::isfinite(v.real));
  };
  if (is_json_number(a) && is_json_number(b)) return number_compare(a, b) == 0;
  if (a.is_sequence() && b.is_sequence()) return std::ranges::equal(items(a), items(b), same_json);
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::none: return true;
    case Kind::boolean: return a.integer == b.integer;
    case Kind::dict:
      return a.dict->size == b.dict->size && std::ranges::all_of(entries(a), [b](const DictEntry& one) {
               const DictEntry* const other = find_key(*b.dict, leaf_text(one.key));
               return other != nullptr && same_json(one.value, other->value);
             });
    case Kind::string:
      return a.is_leaf() && b.is_leaf() ? leaf_text(a) == leaf_text(b) : json_text(a) == json_text(b);  // ropes too
    default: return false;
  }
}

}  // namespace parlance
