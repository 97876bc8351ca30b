// Numbers: arithmetic of int, bool and float with CPython's results and failures.
//
// Small integers are computed with overflow checks and fall back to bigint.cpp; floats follow
// CPython 3.11 Objects/floatobject.c (floor division, modulo, power). Results keep the origin of
// their first operand that has one. Begin reading at number_binary.
#include "value/number.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/hash.h"
#include "value/bigint.h"

namespace parlance {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;
/// Up to here every integer is a double.
constexpr std::int64_t kExactReal = std::int64_t{1} << std::numeric_limits<double>::digits;

Value fail_zero(Runtime& rt, std::string_view message) {
  return rt.fail(ErrorCode::zero_division, std::string(message));
}

Value fail_negative_power_of_zero(Runtime& rt) { return fail_zero(rt, "0.0 cannot be raised to a negative power"); }

// ---- floats

struct RealDivision {
  double quotient;
  double remainder;
};

/// The remainder has the divisor's sign, and so have zeros; the quotient is exact where it can be.
RealDivision floor_divide_real(double a, double b) {
  double remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder == 0) {
    remainder = std::copysign(0.0, b);
  } else if ((b < 0) != (remainder < 0)) {
    remainder += b;
    quotient -= 1;
  }
  if (quotient == 0) return {std::copysign(0.0, a / b), remainder};
  double whole = std::floor(quotient);
  if (quotient - whole > 0.5) whole += 1;
  return {whole, remainder};
}

Value power_real(Runtime& rt, double a, double b) {
  if (a == 0 && b < 0 && !std::isinf(b)) return fail_negative_power_of_zero(rt);
  const bool is_finite = std::isfinite(a) && std::isfinite(b);
  if (is_finite && a < 0 && b != std::floor(b)) {
    return rt.fail(ErrorCode::value,
                   "negative number cannot be raised to a fractional power: there are no complex numbers");
  }
  const double result = std::pow(a, b);
  if (is_finite && std::isinf(result)) {
    return rt.fail(ErrorCode::overflow, "(34, 'Numerical result out of range')");
  }
  return Value::of_real(result);
}

Value binary_real(Runtime& rt, BinaryOperator op, double a, double b) {
  switch (op) {
    case BinaryOperator::add: return Value::of_real(a + b);
    case BinaryOperator::subtract: return Value::of_real(a - b);
    case BinaryOperator::multiply: return Value::of_real(a * b);
    case BinaryOperator::divide: return b == 0 ? fail_zero(rt, "float division by zero") : Value::of_real(a / b);
    case BinaryOperator::floor_divide:
      return b == 0 ? fail_zero(rt, "float floor division by zero") : Value::of_real(floor_divide_real(a, b).quotient);
    case BinaryOperator::modulo:
      return b == 0 ? fail_zero(rt, "float modulo") : Value::of_real(floor_divide_real(a, b).remainder);
    case BinaryOperator::power: return power_real(rt, a, b);
  }
  return Value::invalid();
}

Value mixed_real(Runtime& rt, BinaryOperator op, Value a, Value b) {
  const std::optional<double> left = to_real(rt, a);
  if (!left) return Value::invalid();
  const std::optional<double> right = to_real(rt, b);
  if (!right) return Value::invalid();
  return binary_real(rt, op, *left, *right);
}

// ---- integers

bool is_zero(Value integer) { return !is_big(integer) && integer.integer == 0; }
bool is_negative(Value integer) { return is_big(integer) ? integer.big->negative : integer.integer < 0; }

Value divide_integers(Runtime& rt, Value a, Value b) {
  const auto is_exact = [](Value v) { return !is_big(v) && v.integer >= -kExactReal && v.integer <= kExactReal; };
  if (is_zero(b)) return fail_zero(rt, "division by zero");
  if (is_exact(a) && is_exact(b)) {
    // Both are exact as doubles, so one division rounds correctly (and 0 / -1 is -0.0, as in
    // CPython).
    return Value::of_real(static_cast<double>(a.integer) / static_cast<double>(b.integer));
  }
  const std::optional<double> quotient = big_quotient(rt, a, b);
  if (rt.failed()) return Value::invalid();
  if (quotient) return Value::of_real(*quotient);
  return rt.fail(ErrorCode::overflow, "integer division result too large for a float");
}

/// Both small and b not zero; the one quotient that overflows goes the long way.
Value divide_small(Runtime& rt, BinaryOperator op, Value a, Value b) {
  if (b.integer == -1) {
    return op == BinaryOperator::modulo ? Value::of_int(0) : number_negate(rt, a);
  }
  std::int64_t quotient = a.integer / b.integer;
  std::int64_t remainder = a.integer % b.integer;
  if (remainder != 0 && (remainder < 0) != (b.integer < 0)) {
    --quotient;
    remainder += b.integer;
  }
  return Value::of_int(op == BinaryOperator::modulo ? remainder : quotient);
}

Value divide_whole(Runtime& rt, BinaryOperator op, Value a, Value b) {
  if (is_zero(b)) {
    return fail_zero(rt,
                     op == BinaryOperator::modulo ? "integer modulo by zero" : "integer division or modulo by zero");
  }
  return is_big(a) || is_big(b) ? big_binary(rt, op, a, b) : divide_small(rt, op, a, b);
}

Value power_integers(Runtime& rt, Value a, Value b) {
  if (is_negative(b)) return mixed_real(rt, BinaryOperator::power, a, b);
  return big_binary(rt, BinaryOperator::power, a, b);
}

/// Add, subtract or multiply; false when the result leaves int64, and for other operators.
inline bool small_result(BinaryOperator op, std::int64_t a, std::int64_t b, std::int64_t& out) {
  switch (op) {
    case BinaryOperator::add: return !__builtin_add_overflow(a, b, &out);
    case BinaryOperator::subtract: return !__builtin_sub_overflow(a, b, &out);
    case BinaryOperator::multiply: return !__builtin_mul_overflow(a, b, &out);
    default: return false;
  }
}

Value binary_integers(Runtime& rt, BinaryOperator op, Value a, Value b) {
  switch (op) {
    case BinaryOperator::divide: return divide_integers(rt, a, b);
    case BinaryOperator::floor_divide:
    case BinaryOperator::modulo: return divide_whole(rt, op, a, b);
    case BinaryOperator::power: return power_integers(rt, a, b);
    default: break;
  }
  std::int64_t small = 0;
  const bool is_small = !is_big(a) && !is_big(b) && small_result(op, a.integer, b.integer, small);
  return is_small ? Value::of_int(small) : big_binary(rt, op, a, b);
}

Value with_origin(Value result, std::uint32_t origin) {
  if (!result.is_invalid()) result.origin = origin;
  return result;
}

int sign_of_difference(auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; }

int compare_small_real(std::int64_t i, double d) {
  if (d >= kTwo63) return -1;
  if (d < -kTwo63) return 1;
  const double whole = std::trunc(d);
  const int order = sign_of_difference(i, static_cast<std::int64_t>(whole));
  return order != 0 ? order : sign_of_difference(0.0, d - whole);
}

int compare_integer_real(Value i, double d) {
  if (std::isnan(d)) return 2;
  return is_big(i) ? big_compare_real(*i.big, d) : compare_small_real(i.integer, d);
}

int compare_integers(Value a, Value b) {
  if (!is_big(a) && !is_big(b)) return sign_of_difference(a.integer, b.integer);
  if (is_big(a) && is_big(b)) return big_compare(*a.big, *b.big);
  return is_big(a) ? (a.big->negative ? -1 : 1) : (b.big->negative ? 1 : -1);
}

// ---- hashes

/// What fits int64 hashes as that integer, the rest by its bits.
std::uint64_t hash_real(double d) {
  if (d >= -kTwo63 && d < kTwo63 && d == std::trunc(d)) {
    return hash_word(0, static_cast<std::uint64_t>(static_cast<std::int64_t>(d)));
  }
  return hash_word(1, std::bit_cast<std::uint64_t>(d));
}

std::uint64_t hash_big(const BigInt& v) {
  if (is_exact_real(v)) return hash_real(*big_to_real(v));
  std::uint64_t h = v.negative ? 1 : 0;
  for (std::uint32_t i = 0; i < v.count; ++i) h = hash_word(h, v.limbs[i]);
  return h;
}

}  // namespace

Value number_binary(Runtime& rt, BinaryOperator op, Value a, Value b) {
  const std::uint32_t origin = a.origin != 0 ? a.origin : b.origin;
  std::int64_t small = 0;
  if (a.is_small_int() && b.is_small_int() && small_result(op, a.integer, b.integer, small)) {
    return with_origin(Value::of_int(small), origin);
  }
  if (a.kind == Kind::real && b.kind == Kind::real) {
    return with_origin(binary_real(rt, op, a.real, b.real), origin);
  }
  if (is_integral(a) && is_integral(b)) return with_origin(binary_integers(rt, op, a, b), origin);
  return with_origin(mixed_real(rt, op, a, b), origin);
}

Value number_negate(Runtime& rt, Value a) {
  const std::uint32_t origin = a.origin;
  if (a.kind == Kind::real) {
    a.real = -a.real;
    return a;
  }
  if (is_big(a) || a.integer == std::numeric_limits<std::int64_t>::min()) {
    return with_origin(big_negate(rt, a), origin);
  }
  return with_origin(Value::of_int(-a.integer), origin);
}

Value number_abs(Runtime& rt, Value a) {
  if (a.kind == Kind::real) {
    a.real = std::fabs(a.real);
    return a;
  }
  return is_negative(a) ? number_negate(rt, a) : number_positive(a);
}

Value number_positive(Value a) {
  if (a.kind == Kind::boolean) a.kind = Kind::integer;
  return a;
}

int number_compare(Value a, Value b) {
  if (is_integral(a) && is_integral(b)) return compare_integers(a, b);
  if (is_integral(a)) return compare_integer_real(a, b.real);
  if (is_integral(b)) {
    const int order = compare_integer_real(b, a.real);
    return order == 2 ? order : -order;
  }
  if (std::isnan(a.real) || std::isnan(b.real)) return 2;
  return sign_of_difference(a.real, b.real);
}

std::uint64_t number_hash(Value v) {
  if (v.kind == Kind::real) return hash_real(v.real);
  return is_big(v) ? hash_big(*v.big) : hash_word(0, static_cast<std::uint64_t>(v.integer));
}

Value integer_from_real(Runtime& rt, double d) {
  if (std::isnan(d)) return rt.fail(ErrorCode::value, "cannot convert float NaN to integer");
  if (std::isinf(d)) return rt.fail(ErrorCode::overflow, "cannot convert float infinity to integer");
  if (d >= -kTwo63 && d < kTwo63) return Value::of_int(static_cast<std::int64_t>(d));
  return big_from_real(rt, d);
}

std::optional<double> to_real(Runtime& rt, Value number) {
  if (number.kind == Kind::real) return number.real;
  if (!is_big(number)) return static_cast<double>(number.integer);
  const std::optional<double> real = big_to_real(*number.big);
  if (!real) rt.fail(ErrorCode::overflow, "int too large to convert to float", number);
  return real;
}

}  // namespace parlance
