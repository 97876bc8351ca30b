// Python's arithmetic operators: who is asked first, what sequences do, and the words of TypeError.
//
// Numbers go to number.cpp, `%` of strings to format.h; joining and repeating sequences is done
// here. The order of dispatch is CPython's (Objects/abstract.c: binary_op1, PyNumber_Add,
// PyNumber_Multiply) as the classes str, markupsafe.Markup and jinja2.Undefined take part in it.
// Begin reading at binary.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "value/bigint.h"
#include "value/dict.h"
#include "value/format.h"
#include "value/markup.h"
#include "value/number.h"
#include "value/operators.h"
#include "value/string.h"

namespace parlance {
namespace {

/// In the order of BinaryOperator, as TypeError prints them.
constexpr std::array<std::string_view, 7> kOperatorSymbols = {"+", "-", "*", "/", "//", "%", "** or pow()"};

std::string quoted_type(Value v) { return "'" + std::string(type_name(v)) + "'"; }

Value fail_unsupported(Runtime& rt, BinaryOperator op, Value a, Value b) {
  return rt.fail(ErrorCode::type,
                 "unsupported operand type(s) for " + std::string(kOperatorSymbols[static_cast<std::size_t>(op)]) +
                     ": " + quoted_type(a) + " and " + quoted_type(b),
                 a);
}

Value fail_concatenate(Runtime& rt, Value a, Value b) {
  const std::string kind = a.is_string() ? "str" : std::string(type_name(a));
  return rt.fail(ErrorCode::type,
                 "can only concatenate " + kind + " (not \"" + std::string(type_name(b)) + "\") to " + kind, b);
}

bool is_repeatable(Value v) { return v.is_string() || v.is_sequence(); }

// ---- joining

/// str + str. A Markup on either side escapes the other and makes the result Markup.
Value join_strings(Runtime& rt, Value a, Value b) {
  if (!a.is_markup() && !b.is_markup()) return concat(rt, a, b);
  const Value left = escape_html(rt, a);
  const Value right = escape_html(rt, b);
  if (left.is_invalid() || right.is_invalid()) return Value::invalid();
  return concat(rt, left, right, true);
}

/// The operands' items never change, so joining with an empty list copies nothing.
Value join_lists(Runtime& rt, Value a, Value b) {
  const auto left = items(a);
  const auto right = items(b);
  if (left.empty()) return make_list(rt, right.data(), right.size(), a.kind);
  if (right.empty()) return make_list(rt, left.data(), left.size(), a.kind);
  const std::uint64_t size = std::uint64_t{left.size()} + right.size();
  if (!rt.charge(size / 4) || !rt.reserve(size * sizeof(Value))) return Value::invalid();
  Value* const all = rt.arena.allocate_array<Value>(size);
  std::copy(left.begin(), left.end(), all);
  std::copy(right.begin(), right.end(), all + left.size());
  return make_list(rt, all, size, a.kind);
}

/// The order matters for the words only: Python asks the left operand's type, and that one names itself.
Value add(Runtime& rt, Value a, Value b) {
  if (a.is_string() && b.is_string()) return join_strings(rt, a, b);
  if (a.is_sequence() && a.kind == b.kind) return join_lists(rt, a, b);
  // Markup answers `+` as a number would, so the concatenation that could complain is never tried.
  if (a.is_sequence() || (a.is_string() && !a.is_markup())) return fail_concatenate(rt, a, b);
  return fail_unsupported(rt, BinaryOperator::add, a, b);
}

// ---- repeating

/// A count of a million is limited by steps and memory, not by Python's index size.
Value repeat_string(Runtime& rt, Value s, std::uint64_t times) {
  const bool markup = s.is_markup();
  const std::uint64_t pieces = s.is_leaf() ? 1 : s.rope->count;
  // The two limits have words of their own: past Python's index size it is Python's OverflowError, else ours on memory.
  if (times >= Runtime::kMaxText / std::max<std::uint64_t>(s.size, 1)) {
    const std::size_t characters = length(rt, s);
    if (rt.failed()) return Value::invalid();
    if (times > static_cast<std::uint64_t>(INT64_MAX) / characters) {
      return rt.fail(ErrorCode::overflow, "repeated string is too long", s);
    }
    rt.reserve(Runtime::kMaxText);
    return Value::invalid();
  }
  // A rope repeats its pieces, not its bytes, so pieces are what costs.
  if (!rt.charge(times * pieces / 8) || !rt.reserve(times * pieces * sizeof(Piece))) return Value::invalid();
  StringBuilder out(rt);
  for (std::uint64_t i = 0; i < times; ++i) out.append(s);
  return out.finish(markup);
}

Value repeat_list(Runtime& rt, Value list, std::uint64_t times) {
  const auto unit = items(list);
  if (times >= Runtime::kMaxText / (unit.size() * sizeof(Value))) {
    rt.reserve(Runtime::kMaxText);
    return Value::invalid();
  }
  const std::uint64_t size = unit.size() * times;
  if (!rt.charge(size / 4) || !rt.reserve(size * sizeof(Value))) return Value::invalid();
  Value* const all = rt.arena.allocate_array<Value>(size);
  for (std::uint64_t i = 0; i < times; ++i) std::copy(unit.begin(), unit.end(), all + i * unit.size());
  return make_list(rt, all, size, list.kind);
}

Value repeat(Runtime& rt, Value sequence, Value count) {
  if (is_big(count)) {
    return rt.fail(ErrorCode::overflow, "cannot fit 'int' into an index-sized integer", count);
  }
  const std::int64_t times = std::max<std::int64_t>(count.integer, 0);
  if (sequence.is_string()) {
    if (times == 1 || sequence.size == 0) return sequence;
    if (times == 0) return substring(rt, sequence, 0, 0);
    return repeat_string(rt, sequence, static_cast<std::uint64_t>(times));
  }
  if (times == 0 || sequence.list->size == 0) return make_list(rt, nullptr, 0, sequence.kind);
  return repeat_list(rt, sequence, static_cast<std::uint64_t>(times));
}

Value multiply(Runtime& rt, Value a, Value b) {
  if (is_repeatable(a) && is_integral(b)) return repeat(rt, a, b);
  if (is_repeatable(b) && is_integral(a)) return repeat(rt, b, a);
  // Markup hands its operand straight to str, whose own words come then.
  if (a.is_markup() || b.is_markup()) {
    const Value count = a.is_markup() ? b : a;
    return rt.fail(ErrorCode::type, quoted_type(count) + " object cannot be interpreted as an integer", count);
  }
  if (!is_repeatable(a) && !is_repeatable(b)) return fail_unsupported(rt, BinaryOperator::multiply, a, b);
  const Value count = is_repeatable(a) ? b : a;
  return rt.fail(ErrorCode::type, "can't multiply sequence by non-int of type " + quoted_type(count), count);
}

// ---- everything that is not two numbers

/// What an object's own type makes of `a OP b`; undefined without a reason when it has no say.
/// As __add__ and then __radd__: a type that has no say gives way to the other.
Value binary_of_object(Runtime& rt, BinaryOperator op, Value a, Value b) {
  for (const Value v : {a, b}) {
    if (v.kind != Kind::object || v.object->type->binary == nullptr) continue;
    const Value result = v.object->type->binary(rt, op, a, b);
    if (!result.is_undefined()) return result;
  }
  return {};
}

/// The order is CPython's. `%` of a string comes first, as a string formats an undefined value; the left operand's
/// failure comes before the right one's.
Value binary_slow(Runtime& rt, BinaryOperator op, Value a, Value b) {
  if (a.is_invalid() || b.is_invalid()) return Value::invalid();
  if (op == BinaryOperator::modulo && a.is_string()) return format_percent(rt, a, b);
  if (a.is_undefined()) return fail_undefined(rt, a);
  if (op == BinaryOperator::multiply && a.is_markup()) return multiply(rt, a, b);
  if (b.is_undefined()) return fail_undefined(rt, b);
  if (a.kind == Kind::object || b.kind == Kind::object) {
    const Value result = binary_of_object(rt, op, a, b);
    if (!result.is_undefined()) return result;
  }
  if (op == BinaryOperator::add) return add(rt, a, b);
  if (op == BinaryOperator::multiply) return multiply(rt, a, b);
  return fail_unsupported(rt, op, a, b);
}

Value fail_unary(Runtime& rt, std::string_view symbol, Value a) {
  if (a.is_invalid()) return a;
  if (a.is_undefined()) return fail_undefined(rt, a);
  return rt.fail(ErrorCode::type, "bad operand type for unary " + std::string(symbol) + ": " + quoted_type(a), a);
}

}  // namespace

Value binary(Runtime& rt, BinaryOperator op, Value a, Value b) {
  if (is_number(a) && is_number(b)) return number_binary(rt, op, a, b);
  return binary_slow(rt, op, a, b);
}

Value negate(Runtime& rt, Value a) { return is_number(a) ? number_negate(rt, a) : fail_unary(rt, "-", a); }

Value positive(Runtime& rt, Value a) { return is_number(a) ? number_positive(a) : fail_unary(rt, "+", a); }

}  // namespace parlance
