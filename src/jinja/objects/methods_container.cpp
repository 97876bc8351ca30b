// Methods of list, tuple, dict, dict views and range. Those that would change one are not here: the
// immutable sandbox refuses them (see methods.cpp).
//
// Rules: CPython 3.11 Objects/listobject.c, tupleobject.c, dictobject.c, rangeobject.c.
// Begin reading at the tables at the end.

#include <algorithm>

#include "jinja/objects/methods.h"
#include "jinja/objects/objects.h"
#include "value/iterate.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

/// A start or stop of index(): like a slice bound, but none is refused.
bool position_argument(const Call& call, std::size_t i, std::int64_t size, std::int64_t& out) {
  if (call[i].is_none() || !bound_argument(call, i, 0, out)) {
    // index() has its own converter in CPython, which does not take None and says so in other words.
    call.rt.failure = {};
    call.rt.fail(ErrorCode::type, "slice indices must be integers or have an __index__ method", call[i]);
    return false;
  }
  if (out < 0) out = std::max<std::int64_t>(out + size, 0);
  return true;
}

/// Position of argument 1 among `values` from `at` to `end`, or -1; -2 after a failure.
std::int64_t position_of(Call& call, std::span<const Value> values, std::int64_t at, std::int64_t end) {
  for (; at < std::min(end, static_cast<std::int64_t>(values.size())); ++at) {
    if (same_or_equal(call.rt, values[static_cast<std::size_t>(at)], call[1])) return at;
    if (!call.rt.charge(1) || call.rt.failed()) return -2;
  }
  return -1;
}

Value fail_not_in(Call& call, std::string_view before, std::string_view after) {
  const Value shown = before.empty() ? to_repr(call.rt, call[1]) : Value::view("");
  if (shown.is_invalid()) return shown;
  return call.fail(ErrorCode::value, std::string(before) + std::string(text(call.rt, shown)) + std::string(after));
}

Value sequence_index(Call& call) {
  const auto size = static_cast<std::int64_t>(items(call[0]).size());
  std::int64_t start = 0;
  std::int64_t stop = INT64_MAX;
  if (!position_argument(call, 2, size, start)) return Value::invalid();
  if (call.given(3) && !position_argument(call, 3, size, stop)) return Value::invalid();
  const std::int64_t at = position_of(call, items(call[0]), start, stop);
  if (at >= 0) return Value::of_int(at);
  if (at == -2) return Value::invalid();
  return call[0].kind == Kind::list ? fail_not_in(call, "", " is not in list")
                                    : fail_not_in(call, "tuple.index(x): x not in tuple", "");
}

Value sequence_count(Call& call) {
  std::int64_t found = 0;
  for (Value item : items(call[0])) {
    // list.count() looks at identity first, so NaN counts itself.
    found += same_or_equal(call.rt, item, call[1]);
    if (!call.rt.charge(1) || call.rt.failed()) return Value::invalid();
  }
  return Value::of_int(found);
}

/// copy(): the members are shared, since a change makes new ones; only `is sameas` can tell the two apart. A copy that
/// may be changed is the template's own.
Value list_copy(Call& call) {
  Value copy = call[0];
  ListObject* made = call.rt.arena.make<ListObject>(*call[0].list);
  if (call.rt.allow_changes) made->origin = 0;
  copy.list = made;
  return copy;
}
Value dict_copy(Call& call) {
  Value copy = call[0];
  DictObject* made = call.rt.arena.make<DictObject>(*call[0].dict);
  if (call.rt.allow_changes) made->origin = 0;
  copy.dict = made;
  return copy;
}

Value dict_get(Call& call) {
  const DictEntry* entry = find(call.rt, *call[0].dict, call[1]);
  if (call.rt.failed()) return Value::invalid();
  return entry == nullptr ? call[2] : entry->value;
}

template <DictView which>
Value dict_view(Call& call) {
  return make_dict_view(call.rt, call[0], which);
}

Value dict_fromkeys(Call& call) {
  Iterator it;
  if (!iterate(call.rt, call[1], it)) return Value::invalid();
  // The keys may come from a generator of any length, so each is charged.
  DictBuilder out(call.rt);
  for (Value key; it.next(call.rt, key);) {
    if (!call.rt.charge(1) || !call.rt.reserve(64) || !out.set(key, call[2])) return Value::invalid();
  }
  return call.rt.failed() ? Value::invalid() : out.finish();
}

Value view_isdisjoint(Call& call) {
  Iterator it;
  if (!iterate(call.rt, call[1], it)) return Value::invalid();
  bool shared = false;
  for (Value item; !shared && it.next(call.rt, item);) {
    shared = contains(call.rt, call[0], item);
    if (!call.rt.charge(1)) return Value::invalid();
  }
  return call.rt.failed() ? Value::invalid() : Value::boolean(!shared);
}

const RangeObject& range_of(const Call& call) { return *static_cast<const RangeObject*>(call[0].object); }

/// Where the argument is in the range, -1 if nowhere; -2 after a failure.
/// Walks, where range_contains computes: the argument may equal a member without being an int, as 2.0 does.
std::int64_t range_position(Call& call) {
  const RangeObject& range = range_of(call);
  for (std::int64_t at = 0; at < range.length; ++at) {
    if (equal(call.rt, range_at(call.rt, range, at), call[1])) return at;
    if (!call.rt.charge(1) || call.rt.failed()) return -2;
  }
  return -1;
}

Value range_count(Call& call) {
  const std::int64_t at = range_position(call);
  return at == -2 ? Value::invalid() : Value::of_int(at >= 0);
}

Value range_index(Call& call) {
  const std::int64_t at = range_position(call);
  if (at >= 0) return Value::of_int(at);
  if (at == -2) return Value::invalid();
  const bool integral = call[1].kind == Kind::integer || call[1].kind == Kind::boolean;
  return integral ? fail_not_in(call, "", " is not in range")
                  : fail_not_in(call, "sequence.index(x): x not in sequence", "");
}

constexpr Builtin kListRows[] = {
    {"copy", "", "self, /", list_copy, "A shallow copy.", "{{ [1, 2].copy() }} -> [1, 2]"},
    {"count", "", "self, value, /", sequence_count, "How often a value is in the list.",
     "{{ [1, 2, 1].count(1) }} -> 2"},
    {"index", "", "self, value, start=0, stop=missing, /", sequence_index,
     "The first position of a value; an error if it is not there.", "{{ ['a', 'b'].index('b') }} -> 1"},
};

constexpr Builtin kTupleRows[] = {
    {"count", "", "self, value, /", sequence_count, "How often a value is in the tuple.",
     "{{ (1, 2, 1).count(1) }} -> 2"},
    {"index", "", "self, value, start=0, stop=missing, /", sequence_index,
     "The first position of a value; an error if it is not there.", "{{ ('a', 'b').index('b') }} -> 1"},
};

constexpr Builtin kDictRows[] = {
    {"copy", "", "self, /", dict_copy, "A shallow copy.", "{{ {'a': 1}.copy() }} -> {'a': 1}"},
    {"fromkeys", "", "self, iterable, value=none, /", dict_fromkeys,
     "A dict with the given keys, all with the same value.", "{{ {}.fromkeys('ab', 0) }} -> {'a': 0, 'b': 0}"},
    {"get", "", "self, key, default=none, /", dict_get, "The value for a key, or `default`.",
     "{{ {'a': 1}.get('b', 2) }} -> 2"},
    {"items", "", "self, /", dict_view<DictView::items>, "The (key, value) pairs.",
     "{{ {'a': 1}.items() }} -> dict_items([('a', 1)])"},
    {"keys", "", "self, /", dict_view<DictView::keys>, "The keys.", "{{ {'a': 1}.keys() }} -> dict_keys(['a'])"},
    {"values", "", "self, /", dict_view<DictView::values>, "The values.",
     "{{ {'a': 1}.values() }} -> dict_values([1])"},
};

constexpr Builtin kDictViewRows[] = {
    {"isdisjoint", "", "self, other, /", view_isdisjoint, "Whether the view has no item in common with an iterable.",
     "{{ {'a': 1}.keys().isdisjoint(['b']) }} -> True"},
};

constexpr Builtin kRangeRows[] = {
    {"count", "", "self, value, /", range_count, "1 if the range has the value, else 0.",
     "{{ range(5).count(3) }} -> 1"},
    {"index", "", "self, value, /", range_index, "The position of a value; an error if it is not there.",
     "{{ range(2, 9, 2).index(6) }} -> 2"},
};

}  // namespace

std::span<const Builtin> list_methods() { return kListRows; }
std::span<const Builtin> tuple_methods() { return kTupleRows; }
std::span<const Builtin> dict_methods() { return kDictRows; }
std::span<const Builtin> dict_view_methods() { return kDictViewRows; }
std::span<const Builtin> range_methods() { return kRangeRows; }

}  // namespace parlance::jinja
