// eq, ne, lt, le, gt, ge. Source: Go 1.26 text/template/funcs.go. Begin reading at equal_values.
#include <cmath>

#include "base/bytes.h"
#include "gotemplate/functions.h"
#include "gotemplate/print.h"

namespace parlance::gotemplate {
namespace {

enum class Basic : std::uint8_t { none, boolean, complex, integer, real, string, byte };

Basic basic_of(Value v) {
  if (v.is_undefined()) return Basic::none;
  switch (facts(type_of(v)).kind) {
    case GoKind::boolean: return Basic::boolean;
    case GoKind::complex: return Basic::complex;
    case GoKind::integer: return Basic::integer;
    case GoKind::real: return Basic::real;
    case GoKind::string: return Basic::string;
    case GoKind::byte: return Basic::byte;
    default: return Basic::none;
  }
}

bool is_whole(Basic kind) { return kind == Basic::integer || kind == Basic::byte; }

bool fail_comparison(Runtime& rt, std::string message) {
  rt.fail(ErrorCode::go_execute, std::move(message));
  return false;
}

std::string type_text(Value v) { return std::string(facts(type_of(v)).name); }

bool incompatible(Runtime& rt, Value a, Value b) {
  return fail_comparison(rt, "incompatible types for comparison: " + type_text(a) + " and " + type_text(b));
}

bool same_scalar(Runtime& rt, Basic kind, Value a, Value b) {
  switch (kind) {
    case Basic::boolean:
    case Basic::integer:
    case Basic::byte: return a.integer == b.integer;
    case Basic::real: return real_of(a) == real_of(b);
    case Basic::string: rt.charge_bytes(length_of(a)); return text(rt, a) == text(rt, b);
    case Basic::complex:
      return a.list->items[0].real == b.list->items[0].real && a.list->items[1].real == b.list->items[1].real;
    case Basic::none: break;
  }
  return false;
}

/// Two values of no basic kind: nil equals nil, pointers are compared, nothing else can be.
bool same_object(Runtime& rt, Value a, Value b, bool& result) {
  const auto kind = [](Value v) { return v.is_undefined() ? GoKind::invalid : facts(type_of(v)).kind; };
  if (kind(a) != kind(b) && !a.is_undefined() && !b.is_undefined()) {
    return fail_comparison(rt, "non-comparable types " + display(rt, a, 's') + ": " + type_text(a) + ", " +
                                   type_text(b) + ": " + display(rt, b));
  }
  const bool a_nil = a.is_undefined() || is_nil(a);
  const bool b_nil = b.is_undefined() || is_nil(b);
  if (a_nil || b_nil) {
    result = a_nil == b_nil;
    return true;
  }
  if (kind(b) != GoKind::pointer)
    return fail_comparison(rt, "non-comparable type " + display(rt, b, 's') + ": " + type_text(b));
  result = type_of(a) == type_of(b) && a.list == b.list;
  return true;
}

}  // namespace

/// Two texts first: nearly every comparison of a chat template is `eq .Role "user"`. Kinds must be the same, but for
/// integers, signed or not. A value that there is not equals no other, and asking that is no error.
bool equal_values(Runtime& rt, Value a, Value b, bool& result) {
  if (a.is_leaf() && b.is_leaf() && is_text(a) && is_text(b)) {
    result = a.size == b.size && equal_bytes(a.data, b.data, a.size);
    return rt.charge_bytes(a.size);
  }
  a = unbox(a);
  b = unbox(b);
  result = false;
  const Basic kind = basic_of(a);
  const Basic other = basic_of(b);
  if (kind == other) {
    if (kind == Basic::none) return same_object(rt, a, b, result);
    result = same_scalar(rt, kind, a, b);
    return true;
  }
  if (is_whole(kind) && is_whole(other)) {
    result = a.integer == b.integer;
    return true;
  }
  return a.is_undefined() || b.is_undefined() || incompatible(rt, a, b);
}

/// Order exists for numbers and strings. bool and complex have equality only, and an int and a float64 are not compared
/// at all: `lt .Index 1.5` is an error in Go too.
bool less_values(Runtime& rt, Value a, Value b, bool& result) {
  a = unbox(a);
  b = unbox(b);
  result = false;
  const Basic kind = basic_of(a);
  const Basic other = basic_of(b);
  if (kind == Basic::none || other == Basic::none) return fail_comparison(rt, "invalid type for comparison");
  if (is_whole(kind) && is_whole(other)) {
    result = a.integer < b.integer;
    return true;
  }
  if (kind != other) return incompatible(rt, a, b);
  switch (kind) {
    case Basic::real: result = real_of(a) < real_of(b); return true;
    case Basic::string:
      rt.charge_bytes(length_of(a));
      result = text(rt, a) < text(rt, b);
      return true;
    default: return fail_comparison(rt, "invalid type for comparison");
  }
}

/// eq x a b …: whether x is any of the others, from left to right. An error behind the first that is equal is not met.
Value function_eq(Call& call) {
  if (call.rest.positional_count == 0) {
    return call.rt.fail(ErrorCode::go_execute, "missing argument for comparison");
  }
  for (std::uint32_t i = 0; i < call.rest.positional_count; ++i) {
    bool same = false;
    if (!equal_values(call.rt, call[0], call.rest.positional[i], same)) return Value::invalid();
    if (same) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Value function_ne(Call& call) {
  bool same = false;
  return equal_values(call.rt, call[0], call[1], same) ? Value::boolean(!same) : Value::invalid();
}

Value function_lt(Call& call) {
  bool less = false;
  return less_values(call.rt, call[0], call[1], less) ? Value::boolean(less) : Value::invalid();
}

/// Go defines le by lt and eq, and the other two by these. So NaN is neither less nor equal, and gt of it is true.
Value function_le(Call& call) {
  bool less = false;
  if (!less_values(call.rt, call[0], call[1], less)) return Value::invalid();
  bool same = false;
  if (!less && !equal_values(call.rt, call[0], call[1], same)) return Value::invalid();
  return Value::boolean(less || same);
}

Value function_gt(Call& call) {
  const Value result = function_le(call);
  return result.is_invalid() ? result : Value::boolean(result.integer == 0);
}

Value function_ge(Call& call) {
  const Value result = function_lt(call);
  return result.is_invalid() ? result : Value::boolean(result.integer == 0);
}

}  // namespace parlance::gotemplate
