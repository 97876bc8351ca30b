// Complex numbers with CPython's results to the last bit.
//
// Rules: CPython 3.11 Objects/complexobject.c (complex_pow, _Py_c_pow, c_powi, _Py_c_quot,
// complex_repr). Begin reading at complex_binary.
#include "value/complex.h"

#include <cmath>
#include <string>

#include "value/number.h"
#include "value/operators.h"
#include "value/string.h"

namespace parlance {
namespace {

Complex number_of(const Object* object) {
  return static_cast<const ComplexObject*>(object)->number;
}

// ---- arithmetic

Complex product(Complex a, Complex b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
}

/// Divides by the larger part first, so that nothing overflows on the way; b is not zero.
Complex quotient(Complex a, Complex b) {
  const double real = std::fabs(b.real);
  const double imaginary = std::fabs(b.imaginary);
  if (real >= imaginary) {
    const double ratio = b.imaginary / b.real;
    const double divisor = b.real + b.imaginary * ratio;
    return {(a.real + a.imaginary * ratio) / divisor, (a.imaginary - a.real * ratio) / divisor};
  }
  if (imaginary >= real) {
    const double ratio = b.real / b.imaginary;
    const double divisor = b.real * ratio + b.imaginary;
    return {(a.real * ratio + a.imaginary) / divisor, (a.imaginary * ratio - a.real) / divisor};
  }
  return {std::nan(""), std::nan("")};
}

bool is_zero(Complex a) { return a.real == 0 && a.imaginary == 0; }

/// base ** times by squaring; times is at most kWhole.
Complex power_whole(Complex base, int times) {
  Complex result{1, 0};
  for (int mask = 1; mask <= times; mask <<= 1) {
    if ((times & mask) != 0) result = product(result, base);
    base = product(base, base);
  }
  return result;
}

/// Whole exponents up to here are multiplied out.
constexpr double kWhole = 100;

Complex power_polar(Complex a, Complex b) {
  if (is_zero(b)) return {1, 0};
  if (is_zero(a)) return {0, 0};
  const double size = std::hypot(a.real, a.imaginary);
  const double angle = std::atan2(a.imaginary, a.real);
  double length = std::pow(size, b.real);
  double phase = angle * b.real;
  if (b.imaginary != 0) {
    length /= std::exp(angle * b.imaginary);
    phase += b.imaginary * std::log(size);
  }
  return {length * std::cos(phase), length * std::sin(phase)};
}

Value complex_divide(Runtime& rt, Complex a, Complex b) {
  if (is_zero(b)) return rt.fail(ErrorCode::zero_division, "complex division by zero");
  return make_complex(rt, quotient(a, b));
}

/// A number or complex number as complex; false (with or without a failure) for what is neither.
bool as_complex(Runtime& rt, Value v, Complex& out) {
  if (is_complex(v)) {
    out = number_of(v.object);
    return true;
  }
  if (!is_number(v)) return false;
  const std::optional<double> real = to_real(rt, v);
  out = {real.value_or(0), 0};
  return real.has_value();
}

Value complex_binary(Runtime& rt, BinaryOperator op, Value left, Value right) {
  Complex a{};
  Complex b{};
  if (!as_complex(rt, left, a) || !as_complex(rt, right, b))
    return rt.failed() ? Value::invalid() : Value{};
  switch (op) {
    case BinaryOperator::add:
      return make_complex(rt, {a.real + b.real, a.imaginary + b.imaginary});
    case BinaryOperator::subtract:
      return make_complex(rt, {a.real - b.real, a.imaginary - b.imaginary});
    case BinaryOperator::multiply:
      return make_complex(rt, product(a, b));
    case BinaryOperator::divide:
      return complex_divide(rt, a, b);
    case BinaryOperator::power:
      return complex_power(rt, a, b);
    default:
      return {};
  }
}

// ---- the other slots

/// A part as repr(float) has it, but 2.0 as "2".
std::string part_text(double part) {
  char buffer[kNumberText];
  std::string text(buffer, write_real(buffer, part));
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

Value complex_text(Runtime& rt, Object* self, bool) {
  const Complex c = number_of(self);
  std::string imaginary = part_text(c.imaginary) + "j";
  if (c.real == 0 && !std::signbit(c.real)) return make_computed(rt, imaginary);
  if (imaginary[0] != '-') imaginary.insert(0, "+");
  return make_computed(rt, "(" + part_text(c.real) + imaginary + ")");
}

bool complex_truth(Runtime&, Object* self) { return !is_zero(number_of(self)); }

Value complex_attribute(Runtime&, Object* self, std::string_view name) {
  if (name == "real") return Value::of_real(number_of(self).real);
  if (name == "imag") return Value::of_real(number_of(self).imaginary);
  Value missing;
  missing.flags = Value::kMissing;
  return missing;
}

/// A complex number without an imaginary part equals a float, so it must hash as one.
std::uint64_t complex_hash(Runtime&, Object* self) {
  const Complex c = number_of(self);
  return number_hash(Value::of_real(c.real)) +
         (c.imaginary == 0 ? 0 : 1000003 * number_hash(Value::of_real(c.imaginary)));
}

}  // namespace

const ObjectType kComplexType{
    .name = "complex",
    .to_text = complex_text,
    .truth = complex_truth,
    .get_attribute = complex_attribute,
    .binary = complex_binary,
    .hash = complex_hash,
};

Value make_complex(Runtime& rt, Complex number) {
  return object_value(rt.arena.make<ComplexObject>(ComplexObject{{&kComplexType}, number}));
}

Value complex_power(Runtime& rt, Complex base, Complex exponent) {
  const bool whole = exponent.imaginary == 0 && exponent.real == std::floor(exponent.real) &&
                     std::fabs(exponent.real) <= kWhole;
  if (is_zero(base) && (exponent.real < 0 || exponent.imaginary != 0)) {
    return rt.fail(ErrorCode::zero_division, "0.0 to a negative or complex power");
  }
  Complex result{};
  if (!whole) {
    result = power_polar(base, exponent);
  } else if (exponent.real > 0) {
    result = power_whole(base, static_cast<int>(exponent.real));
  } else {
    result = quotient({1, 0}, power_whole(base, -static_cast<int>(exponent.real)));
  }
  if (std::isinf(result.real) || std::isinf(result.imaginary)) {
    return rt.fail(ErrorCode::overflow, "complex exponentiation");
  }
  return make_complex(rt, result);
}

Value complex_negate(Runtime& rt, Value a) {
  const Complex c = number_of(a.object);
  return make_complex(rt, {-c.real, -c.imaginary});
}

Value complex_abs(Runtime& rt, Value a) {
  const Complex c = number_of(a.object);
  const double size = std::hypot(c.real, c.imaginary);
  if (std::isinf(size) && std::isfinite(c.real) && std::isfinite(c.imaginary)) {
    return rt.fail(ErrorCode::overflow, "absolute value too large");
  }
  return Value::of_real(size);
}

bool complex_equal(Value a, Value b) {
  if (!is_complex(a)) std::swap(a, b);
  const Complex c = number_of(a.object);
  if (is_number(b)) return c.imaginary == 0 && number_compare(Value::of_real(c.real), b) == 0;
  if (!is_complex(b)) return false;
  const Complex d = number_of(b.object);
  return c.real == d.real && c.imaginary == d.imaginary;
}

}  // namespace parlance
