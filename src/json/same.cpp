// Begin reading at same_json.
#include "json/same.h"

#include <algorithm>
#include <cmath>

#include "json/json.h"
#include "value/dict.h"
#include "value/number.h"

namespace parlance {
namespace {

bool is_json_number(Value v) { return v.kind == Kind::integer || (v.kind == Kind::real && std::isfinite(v.real)); }

bool same_members(const DictObject& a, const DictObject& b) {
  return a.size == b.size && std::all_of(a.entries, a.entries + a.size, [&b](const DictEntry& one) {
           const DictEntry* const other = find_key(b, leaf_text(one.key));
           return other != nullptr && same_json(one.value, other->value);
         });
}

}  // namespace

bool same_json(Value a, Value b) {
  if (is_json_number(a) && is_json_number(b)) return number_compare(a, b) == 0;
  if (a.is_sequence() && b.is_sequence()) return std::ranges::equal(items(a), items(b), same_json);
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::none: return true;
    case Kind::boolean: return a.integer == b.integer;
    case Kind::dict: return same_members(*a.dict, *b.dict);
    case Kind::string:
      return a.is_leaf() && b.is_leaf() ? leaf_text(a) == leaf_text(b) : json_text(a) == json_text(b);  // ropes too
    default: return false;
  }
}

}  // namespace parlance
