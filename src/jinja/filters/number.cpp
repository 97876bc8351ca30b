// Filters on numbers: abs, int, float, round, filesizeformat.
//
// Source of the rules: Jinja2 3.1.6 filters.py; which exceptions are caught is part of them.
// Begin reading at kNumberFilters, at the end.
#include "value/number.h"

#include <cmath>

#include "base/utf8.h"
#include "jinja/filters/common.h"
#include "jinja/filters/tables.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/rare/bytes.h"
#include "value/operators.h"

namespace parlance::jinja {
namespace {

Value filter_abs(Call& call) {
  if (is_number(call[0])) return number_abs(call.rt, call[0]);
  return call.fail(ErrorCode::type, "bad operand type for abs(): '" + std::string(type_name(call[0])) + "'");
}

std::string_view bytes_of_value(Value v) { return static_cast<const BytesObject*>(v.object)->bytes; }

/// float(bytes), which knows ASCII digits only.
std::optional<double> ascii_real(Value v) {
  return utf8::is_ascii(bytes_of_value(v)) ? parse_real(bytes_of_value(v)) : std::nullopt;
}

/// float(v): nullopt with the failure recorded (type, value, overflow, undefined).
std::optional<double> python_float(Runtime& rt, Value v) {
  if (is_number(v)) return to_real(rt, v);
  if (v.is_undefined()) {
    fail_undefined(rt, v);
    return std::nullopt;
  }
  const bool is_bytes = is_object(v, kBytesType);
  if (!v.is_string() && !is_bytes) {
    rt.fail(ErrorCode::type,
            "float() argument must be a string or a real number, not '" + std::string(type_name(v)) + "'", v);
    return std::nullopt;
  }
  std::optional<double> number = is_bytes ? ascii_real(v) : parse_real(text(rt, v));
  if (number) return number;
  Value shown = to_repr(rt, v);
  if (!shown.is_invalid()) {
    rt.fail(ErrorCode::value, "could not convert string to float: " + std::string(text(rt, shown)), v);
  }
  return std::nullopt;
}

/// int(v), or int(v, base) for a string; invalid with any failure recorded.
/// The messages here are never seen: filter_int catches these failures, as do_int() does.
Value python_int(Call& call) {
  Runtime& rt = call.rt;
  Value v = call[0];
  if (v.is_undefined()) return fail_undefined(rt, v);
  if (v.is(Kind::real)) return integer_from_real(rt, v.real);
  if (v.is(Kind::boolean)) return Value::of_int(v.integer);
  if (v.is(Kind::integer)) return v;
  const bool is_bytes = is_object(v, kBytesType);
  if (!v.is_string() && !is_bytes) return rt.fail(ErrorCode::type, "not a number");
  std::int64_t base = 10;
  if (!is_bytes && !call.integer(2, base)) return Value::invalid();
  if (base != 0 && (base < 2 || base > 36)) return rt.fail(ErrorCode::value, "int() base must be >= 2 and <= 36, or 0");
  if (is_bytes && !utf8::is_ascii(bytes_of_value(v))) return rt.fail(ErrorCode::value, "not an integer");
  std::string_view digits = is_bytes ? bytes_of_value(v) : text(rt, v);
  std::optional<Value> number = parse_int(rt, digits, static_cast<int>(base));
  return number && !number->is_invalid() ? *number : rt.fail(ErrorCode::value, "not an integer");
}

/// A number that was read from a text is not one the template computed; one made of a number keeps its origin.
Value read_from(Value source, Value number) {
  if (number.origin == 0) number.origin = source.is_string() ? kMixedSource : source.origin;
  return number;
}

/// int(value), then int(float(value)), then the default. Undefined and overflow of the first are not caught, just as in
/// do_int().
Value filter_int(Call& call) {
  Runtime& rt = call.rt;
  Value number = python_int(call);
  if (!rt.failed()) return number.is_invalid() ? number : read_from(call[0], number);
  if (!caught(rt, {ErrorCode::type, ErrorCode::value})) return Value::invalid();
  std::optional<double> real = python_float(rt, call[0]);
  if (real) number = integer_from_real(rt, *real);
  if (!rt.failed()) return number.is_invalid() ? number : read_from(call[0], number);
  return caught(rt, {ErrorCode::type, ErrorCode::value, ErrorCode::overflow}) ? call[1] : Value::invalid();
}

Value filter_float(Call& call) {
  std::optional<double> real = python_float(call.rt, call[0]);
  if (real) return read_from(call[0], Value::of_real(*real));
  if (!caught(call.rt, {ErrorCode::type, ErrorCode::value})) return Value::invalid();
  return call.given(1) ? call[1] : Value::of_real(0.0);
}

// ---- round

/// math.ceil() or math.floor() of what value * 10 ** precision gave.
Value whole(Runtime& rt, Value scaled, bool up) {
  if (is_integral(scaled)) return scaled;
  if (!scaled.is(Kind::real)) {
    return rt.fail(ErrorCode::type, "must be real number, not " + std::string(type_name(scaled)), scaled);
  }
  return integer_from_real(rt, up ? std::ceil(scaled.real) : std::floor(scaled.real));
}

/// func(value * (10 ** precision)) / (10 ** precision), with Python's operators: a negative precision makes a float.
Value round_to_side(Call& call, bool up) {
  Runtime& rt = call.rt;
  Value scale = binary(rt, BinaryOperator::power, Value::of_int(10), call[1]);
  // A sequence would be repeated only to be refused.
  if (scale.is_small_int() && (call[0].is_string() || call[0].is_sequence())) return whole(rt, call[0], up);
  Value scaled = scale.is_invalid() ? scale : binary(rt, BinaryOperator::multiply, call[0], scale);
  Value result = scaled.is_invalid() ? scaled : whole(rt, scaled, up);
  return result.is_invalid() ? result : binary(rt, BinaryOperator::divide, result, scale);
}

Value filter_round(Call& call) {
  std::string_view method = call[2].is_string() ? text(call.rt, call[2]) : std::string_view();
  if (method == "ceil" || method == "floor") return round_to_side(call, method == "ceil");
  if (method != "common") {
    // `method not in {…}` hashes the method: for a list that TypeError comes first.
    hash_value(call.rt, call[2]);
    return fail_filter(call, "method must be common, ceil or floor");
  }
  if (!is_number(call[0])) {
    return call.fail(ErrorCode::type, "type " + std::string(type_name(call[0])) + " doesn't define __round__ method");
  }
  if (!call[1].is_none() && !is_integral(call[1])) {
    return call.fail(ErrorCode::type,
                     "'" + std::string(type_name(call[1])) + "' object cannot be interpreted as an integer");
  }
  return round_number(call.rt, call[0], call[1]);
}

// ---- filesizeformat

/// base ** exponent as an exact integer.
Value unit_of(Runtime& rt, int base, int exponent) {
  return number_binary(rt, BinaryOperator::power, Value::of_int(base), Value::of_int(exponent));
}

Value format_in_units(Call& call, double bytes, int base) {
  static constexpr std::string_view kPrefixes = "kMGTPEZY";
  Runtime& rt = call.rt;
  std::size_t i = 0;
  Value unit = unit_of(rt, base, 2);
  // Compared as exact integers, since Jinja2 compares a float with base ** (i + 2).
  while (i + 1 < kPrefixes.size() && number_compare(Value::of_real(bytes), unit) != -1) {
    unit = unit_of(rt, base, static_cast<int>(++i) + 2);
  }
  std::optional<double> divisor = to_real(rt, unit);
  if (!divisor) return Value::invalid();
  std::string out;
  append_real(out, base * bytes / *divisor, 'f', 1, false);
  out += ' ';
  // Jinja2 writes "kB" but "KiB".
  out += base == 1000 || kPrefixes[i] != 'k' ? kPrefixes[i] : 'K';
  out += base == 1000 ? "B" : "iB";
  return make_derived(rt, out, call[0]);
}

Value filter_filesizeformat(Call& call) {
  Runtime& rt = call.rt;
  std::optional<double> bytes = python_float(rt, call[0]);
  int base = call.truth(1) ? 1024 : 1000;
  if (!bytes || rt.failed()) return Value::invalid();
  if (*bytes == 1) return make_derived(rt, "1 Byte", call[0]);
  if (!(*bytes < base)) return format_in_units(call, *bytes, base);
  Value count = integer_from_real(rt, *bytes);
  Value digits = count.is_invalid() ? count : integer_text(rt, count);
  if (digits.is_invalid()) return digits;
  return make_derived(rt, std::string(text(rt, digits)) + " Bytes", call[0]);
}

constexpr Builtin kNumberFilters[] = {
    {"abs", "", "x, /", filter_abs, "The absolute value.", "{{ -2.5|abs }} -> 2.5"},
    {"int", "", "value, default=0, base=10", filter_int,
     "The value converted to an integer, strings in the base `base` (2 to 36); `default` if that fails.",
     "{{ '1f'|int(base=16) }} -> 31"},
    {"float", "", "value, default=missing", filter_float,
     "The value converted to a float; `default` (0.0) if that fails.", "{{ '1e3'|float }} -> 1000.0"},
    {"round", "", "value, precision=0, method='common'", filter_round,
     "The number rounded to `precision` digits: 'common' (half to even), 'ceil' or 'floor'.",
     "{{ 2.345|round(1, 'ceil') }} -> 2.4"},
    {"filesizeformat", "", "value, binary=false", filter_filesizeformat,
     "The number of bytes as a readable size such as 13.5 kB; with `binary`, in KiB, MiB, …",
     "{{ 13500|filesizeformat }} -> 13.5 kB"},
};

}  // namespace

std::span<const Builtin> number_filters() { return kNumberFilters; }

}  // namespace parlance::jinja
