// What generators, ranges, dict views and reversed iterators can do: their ObjectType tables.
//
// The facts are CPython 3.11's (Objects/rangeobject.c, dictobject.c, genobject.c, enumobject.c).
// Cycler, joiner and namespace, which have methods, are in globals.cpp. Begin reading at a k…Type.
#include "jinja/objects/objects.h"

#include <algorithm>

#include "value/number.h"
#include "value/operators.h"
#include "value/text_of.h"

namespace parlance::jinja {
namespace {

void iterate_self(Runtime&, Object* self, Iterator& it) {
  it.mode = Iterator::Mode::object;
  it.object = self;
}

void iterate_span(std::span<const Value> members, Iterator& it) {
  it.mode = Iterator::Mode::items;
  it.item = members.data();
  it.item_end = members.data() + members.size();
}

// ---- Generators

/// A generator that comes to ask itself must fail as in Python, not recurse. After a failure it is finished, as
/// Python's generators are when they raise.
bool generator_next(Runtime& rt, Object* self, Value& out) {
  auto& g = *static_cast<Generator*>(self);
  if (g.finished) return false;
  if (g.running) {
    rt.fail(ErrorCode::value, "generator already executing");
    return false;
  }
  Nesting nest(rt);
  if (!nest.ok() || !rt.charge(1)) return false;
  g.running = true;
  bool more = g.step(rt, g, out);
  g.running = false;
  if (rt.failed() || (more && out.is_invalid())) more = false;
  g.finished = !more;
  return more;
}

Value generator_text(Runtime& rt, Object* self, bool) {
  StringBuilder out(rt);
  out.append_static("<generator object ");
  out.append_static(static_cast<Generator*>(self)->function);
  out.append_static(" at ");
  out.append_static(kPrintedAddress);
  out.append_static(">");
  return out.finish();
}

// ---- Python's builtin iterators

bool iterator_next(Runtime& rt, Object* self, Value& out) {
  Nesting nest(rt);
  return nest.ok() && static_cast<IteratorObject*>(self)->iterator.next(rt, out);
}

constexpr ObjectType iterator_type(std::string_view name) {
  ObjectType type{.name = name};
  type.iterate = iterate_self;
  type.next = iterator_next;
  return type;
}
constexpr ObjectType kListReverseIterator = iterator_type("list_reverseiterator");
constexpr ObjectType kReversed = iterator_type("reversed");
constexpr ObjectType kRangeIterator = iterator_type("range_iterator");
constexpr ObjectType kReverseKeys = iterator_type("dict_reversekeyiterator");
constexpr ObjectType kReverseValues = iterator_type("dict_reversevalueiterator");
constexpr ObjectType kReverseItems = iterator_type("dict_reverseitemiterator");

Value walk_back(Runtime& rt, const ObjectType& type, std::span<const Value> members) {
  auto* object = rt.arena.make<IteratorObject>();
  object->type = &type;
  object->iterator.mode = Iterator::Mode::items_back;
  object->iterator.item = members.data() + members.size();
  object->iterator.item_end = members.data();
  return object_value(object);
}

// ---- Ranges

const RangeObject& as_range(const Object* self) { return *static_cast<const RangeObject*>(self); }

Value calculate(Runtime& rt, BinaryOperator op, Value a, Value b) { return number_binary(rt, op, a, b); }

int sign(Value integer) { return number_compare(integer, Value::of_int(0)); }

/// How many members range(start, stop, step) has: a non-negative integer of any size.
/// (distance - 1) // stride + 1, with integers of any size: range(0, 2**70, 2**69) has two members.
Value count_members(Runtime& rt, Value start, Value stop, Value step) {
  bool up = sign(step) > 0;
  Value distance =
      up ? calculate(rt, BinaryOperator::subtract, stop, start) : calculate(rt, BinaryOperator::subtract, start, stop);
  if (distance.is_invalid() || sign(distance) <= 0) return distance.is_invalid() ? distance : Value::of_int(0);
  Value stride = up ? step : number_negate(rt, step);
  Value last = calculate(rt, BinaryOperator::subtract, distance, Value::of_int(1));
  Value turns = calculate(rt, BinaryOperator::floor_divide, last, stride);
  return calculate(rt, BinaryOperator::add, turns, Value::of_int(1));
}

/// The members as machine integers; only for ranges whose start, step and end are.
bool range_is_small(const RangeObject& r, std::int64_t& last) {
  if (!r.start.is_small_int() || !r.step.is_small_int()) return false;
  std::int64_t way;
  return !__builtin_mul_overflow(r.length, r.step.integer, &way) &&
         !__builtin_add_overflow(r.start.integer, way, &last);
}

Value range_members(Runtime& rt, const RangeObject& range) {
  ListBuilder list(rt, static_cast<std::uint32_t>(range.length));
  if (!rt.charge(static_cast<std::uint64_t>(range.length))) return Value::invalid();
  for (std::int64_t i = 0; i < range.length; ++i) list.append(range_at(rt, range, i));
  return list.finish();
}

/// Machine integers are counted up in place. For larger ones all members are made at once, which the steps bound.
void range_iterate(Runtime& rt, Object* self, Iterator& it) {
  const RangeObject& r = as_range(self);
  std::int64_t end;
  if (!range_is_small(r, end)) return iterate_span(items(range_members(rt, r)), it);
  it.mode = Iterator::Mode::range;
  it.value = r.start.integer;
  it.left = r.length;
  it.step = r.step.integer;
}

Value range_text(Runtime& rt, Object* self, bool) {
  const RangeObject& r = as_range(self);
  StringBuilder out(rt);
  out.append_static("range(");
  out.append(to_text(rt, r.start));
  out.append_static(", ");
  out.append(to_text(rt, r.stop));
  if (number_compare(r.step, Value::of_int(1)) != 0) {
    out.append_static(", ");
    out.append(to_text(rt, r.step));
  }
  out.append_static(")");
  return out.finish();
}

Value range_item(Runtime& rt, Object* self, Value key) {
  const RangeObject& r = as_range(self);
  if (!is_integral(key) || (key.flags & Value::kBig) != 0) return missing();
  std::int64_t i = key.integer < 0 ? key.integer + r.length : key.integer;
  return i < 0 || i >= r.length ? missing() : range_at(rt, r, i);
}

Value range_attribute(Runtime&, Object* self, std::string_view name) {
  const RangeObject& r = as_range(self);
  if (name == "start") return r.start;
  if (name == "stop") return r.stop;
  return name == "step" ? r.step : missing();
}

bool range_contains(Runtime& rt, Object* self, Value item) {
  const RangeObject& r = as_range(self);
  std::int64_t end;
  if (is_integral(item) && range_is_small(r, end)) {
    if ((item.flags & Value::kBig) != 0 || r.length == 0) return false;
    // `end` is one step past the last member. The differences are taken without sign, as those of two far members
    // overflow.
    std::int64_t low = std::min(r.start.integer, end - r.step.integer);
    std::int64_t high = std::max(r.start.integer, end - r.step.integer);
    if (item.integer < low || item.integer > high) return false;
    const auto item_bits = static_cast<std::uint64_t>(item.integer),
               start = static_cast<std::uint64_t>(r.start.integer), step = static_cast<std::uint64_t>(r.step.integer);
    return r.step.integer > 0 ? (item_bits - start) % step == 0 : (start - item_bits) % (0 - step) == 0;
  }
  if (!rt.charge(static_cast<std::uint64_t>(r.length))) return false;
  for (std::int64_t i = 0; i < r.length; ++i) {
    if (equal(rt, range_at(rt, r, i), item)) return true;
  }
  return false;
}

/// Ranges are equal if their members are: the step of a range with one member does not count, nor `stop` of any.
bool range_equal(Runtime&, Object* a, Object* b) {
  const RangeObject &x = as_range(a), &y = as_range(b);
  if (x.length != y.length) return false;
  if (x.length == 0) return true;
  return number_compare(x.start, y.start) == 0 && (x.length == 1 || number_compare(x.step, y.step) == 0);
}

Value range_slice(Runtime& rt, Object* self, Value start, Value stop, Value step) {
  return slice_range(rt, as_range(self), start, stop, step);
}

/// Equal ranges have the same first member, if any.
std::uint64_t range_hash(Runtime&, Object* self) {
  const RangeObject& r = as_range(self);
  return r.length == 0 ? 0 : number_hash(r.start) + static_cast<std::uint64_t>(r.length);
}

bool range_truth(Runtime&, Object* self) { return as_range(self).length != 0; }
std::int64_t range_length(Runtime&, Object* self) { return as_range(self).length; }

// ---- Dict views

Value view_dict(const Object* self) { return static_cast<const DictViewObject*>(self)->dict; }

std::int64_t view_length(Runtime&, Object* self) { return view_dict(self).dict->size; }
bool view_truth(Runtime&, Object* self) { return view_dict(self).dict->size != 0; }

template <DictView which>
void view_iterate(Runtime& rt, Object* self, Iterator& it) {
  if constexpr (which == DictView::keys) {
    it.mode = Iterator::Mode::entries_key;
    it.entry = view_dict(self).dict->entries;
    it.entry_end = it.entry + view_dict(self).dict->size;
  } else {
    iterate_span(dict_members(rt, view_dict(self), which), it);
  }
}

template <DictView which>
Value view_text(Runtime& rt, Object* self, bool) {
  constexpr std::string_view kOpen[] = {"dict_keys([", "dict_values([", "dict_items(["};
  const Printing here(rt, self);
  if (!here.ok()) return Value::invalid();
  if (here.again()) return make_static("...");
  StringBuilder out(rt);
  out.append_static(kOpen[static_cast<int>(which)]);
  bool first = true;
  for (const Value& member : dict_members(rt, view_dict(self), which)) {
    if (!first) out.append_static(", ");
    first = false;
    Value shown = to_repr(rt, member);
    if (shown.is_invalid()) return shown;
    out.append(shown);
  }
  out.append_static("])");
  return out.finish();
}

bool keys_contain(Runtime& rt, Object* self, Value item) { return find(rt, *view_dict(self).dict, item) != nullptr; }

/// As CPython: anything but a pair is not in the view, without an error.
bool items_contain(Runtime& rt, Object* self, Value item) {
  if (item.kind != Kind::tuple || item.list->size != 2) return false;
  const DictEntry* entry = find(rt, *view_dict(self).dict, item.list->items[0]);
  return entry != nullptr && same_or_equal(rt, entry->value, item.list->items[1]);
}

/// Keys and items compare as sets.
template <DictView which>
bool views_equal(Runtime& rt, Object* a, Object* b) {
  if (view_length(rt, a) != view_length(rt, b)) return false;
  for (const Value& member : dict_members(rt, view_dict(a), which)) {
    bool there = which == DictView::keys ? keys_contain(rt, b, member) : items_contain(rt, b, member);
    if (!there || rt.failed()) return false;
  }
  return true;
}

template <DictView which>
constexpr ObjectType view_type(std::string_view name) {
  ObjectType type{.name = name};
  type.to_text = view_text<which>;
  type.truth = view_truth;
  type.length = view_length;
  type.iterate = view_iterate<which>;
  return type;
}

constexpr ObjectType keys_type() {
  ObjectType type = view_type<DictView::keys>("dict_keys");
  type.contains = keys_contain;
  type.equal = views_equal<DictView::keys>;
  type.is_hashable = false;
  return type;
}
constexpr ObjectType items_type() {
  ObjectType type = view_type<DictView::items>("dict_items");
  type.contains = items_contain;
  type.equal = views_equal<DictView::items>;
  type.is_hashable = false;
  return type;
}

constexpr ObjectType range_type() {
  ObjectType type{.name = "range"};
  type.to_text = range_text;
  type.truth = range_truth;
  type.length = range_length;
  type.iterate = range_iterate;
  type.get_item = range_item;
  type.get_attribute = range_attribute;
  type.contains = range_contains;
  type.equal = range_equal;
  type.get_slice = range_slice;
  type.hash = range_hash;
  type.is_sequence = true;
  return type;
}

constexpr ObjectType generator_type() {
  ObjectType type{.name = "generator"};
  type.iterate = iterate_self;
  type.next = generator_next;
  type.to_text = generator_text;
  type.refused_names = " gi_code gi_frame ";
  return type;
}

/// slice.indices() for one bound: clamped into [low, high], negative ones from the end.
bool clamp_bound(Runtime& rt, Value bound, std::int64_t absent, std::int64_t length, bool back, std::int64_t& out) {
  out = absent;
  if (bound.is_none()) return true;
  std::optional<std::int64_t> index = to_index(rt, bound);
  if (!index) return false;
  std::int64_t i = *index < 0 ? std::max(*index, -length - 1) + length : *index;
  out = std::clamp(i, back ? std::int64_t{-1} : std::int64_t{0}, back ? length - 1 : length);
  return true;
}

Value reversed_object(Runtime& rt, Value v) {
  const ObjectType* type = v.object->type;
  if (type == &kRangeType) {
    return walk_back(rt, kRangeIterator, items(range_members(rt, as_range(v.object))));
  }
  if (type == &kDictKeysType) {
    return walk_back(rt, kReverseKeys, dict_members(rt, view_dict(v.object), DictView::keys));
  }
  if (type == &kDictValuesType) {
    return walk_back(rt, kReverseValues, dict_members(rt, view_dict(v.object), DictView::values));
  }
  if (type == &kDictItemsType) {
    return walk_back(rt, kReverseItems, dict_members(rt, view_dict(v.object), DictView::items));
  }
  if (!type->is_sequence || type->length == nullptr) return missing();
  Value list = to_list(rt, v);
  return list.is_invalid() ? list : walk_back(rt, kReversed, items(list));
}

}  // namespace

constinit const ObjectType kGeneratorType = generator_type();
constinit const ObjectType kRangeType = range_type();
constinit const ObjectType kDictKeysType = keys_type();
constinit const ObjectType kDictValuesType = view_type<DictView::values>("dict_values");
constinit const ObjectType kDictItemsType = items_type();

Value make_reversed(Runtime& rt, Value v) {
  switch (v.kind) {
    case Kind::list: return walk_back(rt, kListReverseIterator, items(v));
    case Kind::tuple: return walk_back(rt, kReversed, items(v));
    case Kind::undefined: return walk_back(rt, kReversed, {});
    case Kind::dict: return walk_back(rt, kReverseKeys, dict_members(rt, v, DictView::keys));
    case Kind::object: return reversed_object(rt, v);
    default: return missing();
  }
}

Value make_range(Runtime& rt, Value start, Value stop, Value step) {
  if (sign(step) == 0) return rt.fail(ErrorCode::value, "range() arg 3 must not be zero");
  Value length = count_members(rt, start, stop, step);
  if (length.is_invalid()) return length;
  if (number_compare(length, Value::of_int(kMostRange)) > 0) {
    return rt.fail(ErrorCode::overflow, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (" +
                                            std::to_string(kMostRange) + ").");
  }
  return object_value(rt.arena.make<RangeObject>(RangeObject{{&kRangeType}, start, stop, step, length.integer}));
}

Value range_at(Runtime& rt, const RangeObject& r, std::int64_t i) {
  std::int64_t way, value;
  if (r.start.is_small_int() && r.step.is_small_int() && !__builtin_mul_overflow(i, r.step.integer, &way) &&
      !__builtin_add_overflow(r.start.integer, way, &value)) {
    return Value::of_int(value);
  }
  Value offset = calculate(rt, BinaryOperator::multiply, Value::of_int(i), r.step);
  return offset.is_invalid() ? offset : calculate(rt, BinaryOperator::add, r.start, offset);
}

Value slice_range(Runtime& rt, const RangeObject& r, Value start, Value stop, Value step) {
  std::int64_t stride = 1, begin, end;
  if (!step.is_none()) {
    std::optional<std::int64_t> index = to_index(rt, step);
    if (!index) return Value::invalid();
    stride = *index;
  }
  if (stride == 0) return rt.fail(ErrorCode::value, "slice step cannot be zero");
  bool back = stride < 0;
  if (!clamp_bound(rt, start, back ? r.length - 1 : 0, r.length, back, begin) ||
      !clamp_bound(rt, stop, back ? -1 : r.length, r.length, back, end)) {
    return Value::invalid();
  }
  Value new_step = calculate(rt, BinaryOperator::multiply, r.step, Value::of_int(stride));
  Value first = range_at(rt, r, begin), last = range_at(rt, r, end);
  if (new_step.is_invalid() || first.is_invalid() || last.is_invalid()) return Value::invalid();
  return make_range(rt, first, last, new_step);
}

Value make_dict_view(Runtime& rt, Value dict, DictView which) {
  constexpr const ObjectType* kTypes[] = {&kDictKeysType, &kDictValuesType, &kDictItemsType};
  return object_value(rt.arena.make<DictViewObject>(DictViewObject{{kTypes[static_cast<int>(which)]}, dict}));
}

std::span<const Value> dict_members(Runtime& rt, Value dict, DictView which) {
  std::span<const DictEntry> source = entries(dict);
  if (!rt.charge(source.size())) return {};
  Value* members = rt.arena.allocate_array<Value>(source.size());
  Value* pairs = which == DictView::items ? rt.arena.allocate_array<Value>(2 * source.size()) : nullptr;
  for (std::size_t i = 0; i < source.size(); ++i) {
    switch (which) {
      case DictView::keys: members[i] = source[i].key; break;
      case DictView::values: members[i] = source[i].value; break;
      case DictView::items:
        pairs[2 * i] = source[i].key;
        pairs[2 * i + 1] = source[i].value;
        members[i] = make_list(rt, pairs + 2 * i, 2, Kind::tuple);
    }
  }
  return {members, source.size()};
}

Value make_group(Runtime& rt, Value grouper, Value members) {
  Value pair[] = {grouper, members};
  Value group = copy_list(rt, pair, Kind::tuple);
  group.flags |= kGroupFlag;
  return group;
}

Value group_attribute(Value group, std::string_view name) {
  if (name == "grouper") return group.list->items[0];
  return name == "list" ? group.list->items[1] : missing();
}

}  // namespace parlance::jinja
