// The objects Jinja's builtins make: generators of lazy filters, ranges, dict views, reversed
// iterators, groups, cycler, joiner.
//
// Each kind is one ObjectType constant (value/object.h) and one struct in the arena. Objects that
// are their own iterator (generators, reversed) are consumed once, as in Python. Begin reading at
// Generator; lazy.cpp and sequence.cpp in filters/ are its users.
#pragma once
#include "value/dict.h"
#include "value/iterate.h"
#include "value/runtime.h"

namespace parlance::jinja {

/// "No such attribute": whoever asked then tries an item, or makes an undefined value.
inline Value missing() {
  Value v;
  v.flags = Value::kMissing;
  return v;
}

/// A Python generator: `step` gives the next value, false at the end or after a failure.
///
/// Concrete generators derive from it, keep their state after these fields and start with
/// `start_generator`. next() guards nesting, since a template can stack generators.
struct Generator : Object {
  std::string_view function;  ///< name of the Python function, which is printed
  bool (*step)(Runtime&, Generator&, Value& out);
  bool finished;
  bool running;
};
extern const ObjectType kGeneratorType;
/// The address printed objects have: always the same, so that output is reproducible and tells
/// nothing.
inline constexpr std::string_view kPrintedAddress = "0x7f0000000000";

/// A fresh generator of type G (trivially destructible, derived from Generator), its own fields
/// zeroed.
template <typename G>
G* start_generator(Runtime& rt, std::string_view function, bool (*step)(Runtime&, Generator&, Value&)) {
  G* g = rt.arena.make<G>();
  g->type = &kGeneratorType;
  g->function = function;
  g->step = step;
  return g;
}

/// One of Python's builtin iterators that has no other behaviour: only the name differs.
struct IteratorObject : Object {
  Iterator iterator;
};

/// reversed(v) of anything but a string; undefined with kMissing when Python's reversed() raises
/// TypeError for such a value.
Value make_reversed(Runtime& rt, Value v);

/// range(start, stop, step) of at most kMostRange members; integers of any size.
struct RangeObject : Object {
  Value start, stop, step;
  std::int64_t length;
};
extern const ObjectType kRangeType;
inline constexpr std::int64_t kMostRange = 100'000;
/// Fails: value ("range() arg 3 must not be zero"), overflow (too many members). Arguments are
/// integers.
Value make_range(Runtime& rt, Value start, Value stop, Value step);
/// range[start:stop:step], itself a range; absent bounds are none.
Value slice_range(Runtime& rt, const RangeObject& range, Value start, Value stop, Value step);
Value range_at(Runtime& rt, const RangeObject& range, std::int64_t i);

/// What d.keys(), d.values() and d.items() give.
enum class DictView : std::uint8_t { keys, values, items };
struct DictViewObject : Object {
  Value dict;
};
extern const ObjectType kDictKeysType;
extern const ObjectType kDictValuesType;
extern const ObjectType kDictItemsType;
Value make_dict_view(Runtime& rt, Value dict, DictView which);
/// The (key, value) pairs of a dict, or its keys or values, as one run of values in the arena.
std::span<const Value> dict_members(Runtime& rt, Value dict, DictView which);

/// What groupby gives for each group: a tuple (grouper, list) with this flag, whose members also
/// have names. Everything that works on tuples works on it; only attribute lookup asks
/// group_attribute.
inline constexpr std::uint8_t kGroupFlag = 16;
Value make_group(Runtime& rt, Value grouper, Value members);
inline bool is_group(Value v) { return v.kind == Kind::tuple && (v.flags & kGroupFlag) != 0; }
/// group.grouper and group.list; undefined with kMissing for other names.
Value group_attribute(Value group, std::string_view name);

/// cycler(...) and joiner(...): with namespace() the only objects that change.
struct CyclerObject : Object {
  Value items;  ///< tuple, never empty
  std::uint32_t position;
};
extern const ObjectType kCyclerType;
struct JoinerObject : Object {
  Value separator;
  bool used;
};
extern const ObjectType kJoinerType;

}  // namespace parlance::jinja
