// Rules: CPython 3.11, dict_update_arg and PyDict_MergeFromSeq2. Begin reading at update_dict.
#include "jinja/objects/dict_update.h"

#include <string>

#include "value/iterate.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

/// One (key, value) of dict(iterable).
bool add_pair(Runtime& rt, DictBuilder& dict, Value pair, std::uint64_t number) {
  // CPython says "cannot convert … to a sequence" for what iter() refuses, so it is found out before to_list() fails in
  // other words.
  bool iterable =
      pair.is_string() || pair.is_sequence() || pair.is(Kind::dict) || pair.is_undefined() ||
      (pair.is(Kind::object) && (pair.object->type->iterate != nullptr || pair.object->type->next != nullptr));
  std::string where = "dictionary update sequence element #" + std::to_string(number);
  if (!iterable) {
    rt.fail(ErrorCode::type, "cannot convert " + where + " to a sequence", pair);
    return false;
  }
  Value list = to_list(rt, pair);
  if (list.is_invalid()) return false;
  if (list.list->size == 2) return dict.set(list.list->items[0], list.list->items[1]);
  rt.fail(ErrorCode::value, where + " has length " + std::to_string(list.list->size) + "; 2 is required", pair);
  return false;
}

}  // namespace

bool update_dict(Runtime& rt, DictBuilder& dict, Value source) {
  if (source.is(Kind::dict)) {
    for (const DictEntry& entry : entries(source)) {
      if (!rt.charge(1) || !dict.set(entry.key, entry.value)) return false;
    }
    return true;
  }
  // An undefined value fails in Jinja2, since Python asks it for `.keys`, and attributes of an undefined value raise.
  if (source.is_undefined()) {
    fail_undefined(rt, source);
    return false;
  }
  Iterator it;
  if (!iterate(rt, source, it)) return false;
  std::uint64_t number = 0;
  for (Value pair; it.next(rt, pair);) {
    if (!rt.charge(1) || !add_pair(rt, dict, pair, number++)) return false;
  }
  return !rt.failed();
}

}  // namespace parlance::jinja
