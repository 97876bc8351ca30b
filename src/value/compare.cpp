// Python's comparisons: equality, order and containment of every pair of kinds.
//
// Text compares by bytes: in UTF-8, surrogates included, that is the order of code points. Ropes
// are walked piece by piece, never flattened. Rules: CPython 3.11 Objects/object.c
// (do_richcompare), Objects/listobject.c (list_richcompare), jinja2.runtime.Undefined. Begin
// reading at equal and order.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "value/dict.h"
#include "value/iterate.h"
#include "value/number.h"
#include "value/operators.h"
#include "value/string.h"

namespace parlance {
namespace {

// ---- text

/// Hands out the bytes of a string in runs.
/// An empty run is the end, so empty pieces of a rope are passed over here.
class Runs {
 public:
  explicit Runs(Value s) : s_(s) { enter(); }
  bool at_end() const { return run_.empty(); }
  std::string_view run() const { return run_; }
  void skip(std::size_t bytes) {
    run_.remove_prefix(bytes);
    if (run_.empty()) enter();
  }

 private:
  void enter() {
    const std::uint32_t count = s_.is_leaf() ? 1 : s_.rope->count;
    while (run_.empty() && next_ < count) {
      if (s_.is_leaf()) {
        run_ = leaf_text(s_);
      } else {
        run_ = {s_.rope->pieces[next_].data, s_.rope->pieces[next_].size};
      }
      ++next_;
    }
  }

  Value s_;
  std::uint32_t next_ = 0;
  std::string_view run_;
};

int compare_runs(Value a, Value b) {
  Runs left(a);
  Runs right(b);
  while (!left.at_end() && !right.at_end()) {
    const std::size_t size = std::min(left.run().size(), right.run().size());
    const int order = std::memcmp(left.run().data(), right.run().data(), size);
    if (order != 0) return order < 0 ? -1 : 1;
    left.skip(size);
    right.skip(size);
  }
  return static_cast<int>(right.at_end()) - static_cast<int>(left.at_end());
}

/// A rope of empty or tiny pieces costs steps by its pieces, not by its bytes.
bool charge_text(Runtime& rt, Value a, Value b) {
  std::uint64_t work = std::min(a.size, b.size);
  if (!a.is_leaf()) work += a.rope->count;
  if (!b.is_leaf()) work += b.rope->count;
  return rt.charge_bytes(work);
}

int compare_text(Runtime& rt, Value a, Value b) {
  if (!charge_text(rt, a, b)) return 0;
  if (!a.is_leaf() || !b.is_leaf()) return compare_runs(a, b);
  const int order = leaf_text(a).compare(leaf_text(b));
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

bool equal_text(Runtime& rt, Value a, Value b) { return a.size == b.size && compare_text(rt, a, b) == 0; }

// ---- equality

/// Slices share their items, so equal addresses and sizes mean the same members: Python compares by identity first.
bool equal_lists(Runtime& rt, Value a, Value b) {
  const auto left = items(a);
  const auto right = items(b);
  if (left.size() != right.size()) return false;
  if (left.data() == right.data()) return true;
  const Nesting nest(rt);
  if (!nest.ok() || !rt.charge(1 + left.size() / 4)) return false;
  return std::equal(left.begin(), left.end(), right.begin(), [&](Value x, Value y) { return same_or_equal(rt, x, y); });
}

/// Order does not count: as many keys, and each is there with an equal value.
bool equal_dicts(Runtime& rt, Value a, Value b) {
  if (a.dict == b.dict) return true;
  if (a.dict->size != b.dict->size) return false;
  const Nesting nest(rt);
  if (!nest.ok() || !rt.charge(1 + a.dict->size / 2)) return false;
  return std::all_of(entries(a).begin(), entries(a).end(), [&](const DictEntry& entry) {
    const DictEntry* const other = find(rt, *b.dict, entry.key);
    return other != nullptr && same_or_equal(rt, entry.value, other->value);
  });
}

bool equal_objects(Runtime& rt, Object* a, Object* b) {
  if (a == b) return true;
  if (a->type != b->type || a->type->equal == nullptr) return false;
  const Nesting nest(rt);
  return nest.ok() && a->type->equal(rt, a, b);
}

bool equal_slow(Runtime& rt, Value a, Value b) {
  if (is_number(a) && is_number(b)) return number_compare(a, b) == 0;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::none:
    case Kind::undefined: return true;  // Undefined compares its class only
    case Kind::string: return equal_text(rt, a, b);
    case Kind::list:
    case Kind::tuple: return equal_lists(rt, a, b);
    case Kind::dict: return equal_dicts(rt, a, b);
    case Kind::object: return equal_objects(rt, a.object, b.object);
    default: return false;
  }
}

// ---- order

/// In the order of Comparison.
constexpr std::array<std::string_view, 8> kComparisonSymbols = {"==", "!=", "<", "<=", ">", ">=", "in", "not in"};

/// Whether a three-way result (2: unordered) satisfies `op`.
/// NaN is unordered (2): every comparison with it is false.
bool satisfies(Comparison op, int order) {
  switch (op) {
    case Comparison::less: return order == -1;
    case Comparison::less_equal: return order == -1 || order == 0;
    case Comparison::greater: return order == 1;
    case Comparison::greater_equal: return order == 1 || order == 0;
    default: return false;
  }
}

/// The sign that the message names: min() and sort() compare by `<`, whatever their caller wrote.
struct Order {
  Comparison op;
  std::string_view symbol;
};

bool order(Runtime& rt, Order how, Value a, Value b);

/// The first pair that differs decides, so only that pair needs an order: [1, 'a'] < [2, None] holds.
bool order_lists(Runtime& rt, Order how, Value a, Value b) {
  const auto left = items(a);
  const auto right = items(b);
  const Nesting nest(rt);
  if (!nest.ok()) return false;
  const std::size_t common = std::min(left.size(), right.size());
  if (!rt.charge(1 + common / 4)) return false;
  for (std::size_t i = 0; i < common; ++i) {
    const bool same = same_or_equal(rt, left[i], right[i]);
    if (rt.failed()) return false;
    // `how` and not only less: Python asks the operator of the whole for the members that differ.
    if (!same) return order(rt, how, left[i], right[i]);
  }
  const int by_size = left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
  return satisfies(how.op, by_size);
}

bool are_ordered_objects(Value a, Value b) {
  return a.kind == Kind::object && b.kind == Kind::object && a.object->type == b.object->type &&
         a.object->type->order != nullptr;
}

/// Numbers of all kinds compare with each other, strings with strings, and a list never with a tuple.
bool order(Runtime& rt, Order how, Value a, Value b) {
  if (is_number(a) && is_number(b)) return satisfies(how.op, number_compare(a, b));
  if (a.is_string() && b.is_string()) return satisfies(how.op, compare_text(rt, a, b));
  if (a.is_sequence() && a.kind == b.kind) return order_lists(rt, how, a, b);
  if (are_ordered_objects(a, b)) return satisfies(how.op, a.object->type->order(rt, a.object, b.object));
  if (a.is_invalid() || b.is_invalid()) return false;
  if (a.is_undefined() || b.is_undefined()) {
    fail_undefined(rt, a.is_undefined() ? a : b);
    return false;
  }
  rt.fail(ErrorCode::type,
          "'" + std::string(how.symbol) + "' not supported between instances of '" + std::string(type_name(a)) +
              "' and '" + std::string(type_name(b)) + "'",
          a);
  return false;
}

// ---- containment

/// Substring search whose worst case (a long needle that almost matches everywhere) is paid in
/// steps.
bool contains_text(Runtime& rt, std::string_view haystack, std::string_view needle) {
  constexpr std::size_t kShort = 32;
  if (needle.size() > haystack.size() || !rt.charge_bytes(haystack.size())) return false;
  if (needle.size() <= kShort) return haystack.find(needle) != std::string_view::npos;
  const char* at = haystack.data();
  const char* const last = at + (haystack.size() - needle.size()) + 1;
  while (at < last) {
    at = static_cast<const char*>(std::memchr(at, needle[0], static_cast<std::size_t>(last - at)));
    if (at == nullptr || !rt.charge_bytes(needle.size())) return false;
    if (std::memcmp(at, needle.data(), needle.size()) == 0) return true;
    ++at;
  }
  return false;
}

bool string_contains(Runtime& rt, Value container, Value item) {
  if (item.is_string()) return contains_text(rt, text(rt, container), text(rt, item));
  rt.fail(ErrorCode::type, "'in <string>' requires string as left operand, not " + std::string(type_name(item)), item);
  return false;
}

/// The members' own cost is charged by equal(); here the walk is.
bool list_contains(Runtime& rt, Value container, Value item) {
  if (!rt.charge(container.list->size / 4)) return false;
  for (const Value& member : items(container)) {
    if (same_or_equal(rt, member, item)) return true;
    if (rt.failed()) return false;
  }
  return false;
}

bool object_contains(Runtime& rt, Value container, Value item) {
  Iterator it;
  if (!iterate(rt, container, it)) return false;
  for (Value member; it.next(rt, member);) {
    if (!rt.charge(1)) return false;
    if (same_or_equal(rt, member, item)) return true;
    if (rt.failed()) return false;
  }
  return false;
}

}  // namespace

/// Python's containers look at identity before equality. Values have no identity here, and only NaN shows it: each NaN
/// counts as the same object as any other.
bool same_or_equal(Runtime& rt, Value a, Value b) {
  if (a.kind == Kind::real && b.kind == Kind::real && std::isnan(a.real) && std::isnan(b.real)) return true;
  return equal(rt, a, b);
}

bool equal(Runtime& rt, Value a, Value b) {
  if (a.is_small_int() && b.is_small_int()) return a.integer == b.integer;
  if (a.is_leaf() && b.is_leaf()) {
    if (a.size != b.size || a.size == 0 || a.data == b.data) return a.size == b.size;
    return rt.charge_bytes(a.size) && std::memcmp(a.data, b.data, a.size) == 0;
  }
  return equal_slow(rt, a, b);
}

bool less(Runtime& rt, Value a, Value b, std::string_view symbol) {
  return order(rt, {Comparison::less, symbol}, a, b);
}

bool compare(Runtime& rt, Comparison op, Value a, Value b) {
  switch (op) {
    case Comparison::equal: return equal(rt, a, b);
    case Comparison::not_equal: {
      const bool same = equal(rt, a, b);
      return !same && !rt.failed();
    }
    case Comparison::in: return contains(rt, b, a);
    case Comparison::not_in: {
      const bool found = contains(rt, b, a);
      return !found && !rt.failed();
    }
    default: break;
  }
  if (a.is_small_int() && b.is_small_int()) {
    return satisfies(op, a.integer < b.integer ? -1 : a.integer > b.integer ? 1 : 0);
  }
  return order(rt, {op, kComparisonSymbols[static_cast<std::size_t>(op)]}, a, b);
}

bool contains(Runtime& rt, Value container, Value item) {
  switch (container.kind) {
    case Kind::string: return string_contains(rt, container, item);
    case Kind::list:
    case Kind::tuple: return list_contains(rt, container, item);
    case Kind::dict: return find(rt, *container.dict, item) != nullptr;
    case Kind::undefined:  // iterates as nothing
    case Kind::invalid: return false;
    case Kind::object: {
      const ObjectType& type = *container.object->type;
      if (type.contains != nullptr) return type.contains(rt, container.object, item);
      if (type.iterate != nullptr || type.next != nullptr) return object_contains(rt, container, item);
      break;
    }
    default: break;
  }
  rt.fail(ErrorCode::type, "argument of type '" + std::string(type_name(container)) + "' is not iterable", container);
  return false;
}

}  // namespace parlance
