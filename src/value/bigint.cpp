// Integers beyond int64, on Boost.Multiprecision's cpp_int.
//
// A BigInt in the arena is loaded into a cpp_int, computed with, and stored again, as a small
// integer whenever it fits. Before that, sizes are bounded (kMaxBits) and the work is charged. What
// needs only the top bits (doubles, comparisons) looks at the limbs directly. Begin reading at
// big_binary.
#include "value/bigint.h"

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <vector>

#if defined(BOOST_NO_EXCEPTIONS)
// Boost asks for these in a build without exceptions. No call below can fail: divisors are checked.
namespace boost {
[[gnu::weak]] BOOST_NORETURN void throw_exception(const std::exception&) { std::abort(); }
[[gnu::weak]] BOOST_NORETURN void throw_exception(const std::exception&, const source_location&) { std::abort(); }
}  // namespace boost
#endif

namespace parlance {
namespace {

using Integer = boost::multiprecision::cpp_int;

constexpr unsigned kLimbBits = 64;
constexpr std::int64_t kMantissaBits = std::numeric_limits<double>::digits;
constexpr std::int64_t kSmallestExponent = -1074;  // of the smallest positive double

Integer load(Value v) {
  if (!is_big(v)) return Integer(v.integer);
  Integer n;
  boost::multiprecision::import_bits(n, v.big->limbs, v.big->limbs + v.big->count, kLimbBits, false);
  if (v.big->negative) n.backend().negate();
  return n;
}

std::uint64_t bits_of(const Integer& n) {
  return n.is_zero() ? 0 : boost::multiprecision::msb(boost::multiprecision::abs(n)) + 1;
}

/// Of the magnitude; 0 has none.
std::uint64_t bits_of(Value v) {
  if (is_big(v)) return bit_length(*v.big);
  const auto magnitude = v.integer < 0 ? -static_cast<std::uint64_t>(v.integer) : static_cast<std::uint64_t>(v.integer);
  return static_cast<std::uint64_t>(std::bit_width(magnitude));
}

std::uint64_t limbs_of(Value v) { return bits_of(v) / kLimbBits + 1; }

Value fail_too_large(Runtime& rt) {
  return rt.fail(ErrorCode::limit_memory, "the integer would have more than " + std::to_string(kMaxBits) + " bits");
}

/// Limbs in the arena, least significant first. The highest is never zero, and the value never fits int64: so equal
/// integers have equal representations, which comparisons and hashes rely on.
Value store_limbs(Runtime& rt, const std::uint64_t* limbs, std::size_t count, bool negative) {
  if (!rt.reserve(count * sizeof(std::uint64_t))) return Value::invalid();
  auto* kept = rt.arena.allocate_array<std::uint64_t>(count);
  std::copy(limbs, limbs + count, kept);
  Value v = Value::of_int(0);
  v.flags = Value::kBig;
  v.big = rt.arena.make<BigInt>(BigInt{negative, static_cast<std::uint32_t>(count), kept});
  return v;
}

Value store(Runtime& rt, const Integer& n) {
  if (n >= std::numeric_limits<std::int64_t>::min() && n <= std::numeric_limits<std::int64_t>::max()) {
    return Value::of_int(static_cast<std::int64_t>(n));
  }
  if (bits_of(n) > kMaxBits) return fail_too_large(rt);
  std::vector<std::uint64_t> limbs;
  boost::multiprecision::export_bits(n, std::back_inserter(limbs), kLimbBits, false);
  return store_limbs(rt, limbs.data(), limbs.size(), n.sign() < 0);
}

/// Takes the steps that `limb_steps` additions of limbs are worth.
bool charge_limbs(Runtime& rt, std::uint64_t limb_steps) { return rt.charge(1 + limb_steps / 8); }

struct Division {
  Integer quotient;
  Integer remainder;
};

/// Python's: the quotient is floored, the remainder has the divisor's sign.
/// (Never `++` on a cpp_int: Boost 1.74 loses the minus of one whose lowest limb becomes zero.)
Division floor_divide(const Integer& a, const Integer& b) {
  Division d;
  boost::multiprecision::divide_qr(a, b, d.quotient, d.remainder);
  if (!d.remainder.is_zero() && (d.remainder.sign() < 0) != (b.sign() < 0)) {
    d.quotient -= 1;
    d.remainder += b;
  }
  return d;
}

/// The size is bounded before the product is made: x * x in a loop doubles its bits each time.
Value multiply_big(Runtime& rt, Value a, Value b) {
  if (bits_of(a) + bits_of(b) > kMaxBits + 1) return fail_too_large(rt);
  if (!charge_limbs(rt, limbs_of(a) * limbs_of(b))) return Value::invalid();
  return store(rt, load(a) * load(b));
}

/// 0, 1 and -1 take any exponent. For all others the result has more than (bits - 1) * exponent bits, so a size that is
/// too large is known without computing it.
Value power(Runtime& rt, Value base, Value exponent) {
  const std::uint64_t bits = bits_of(base);
  const bool odd = is_big(exponent) ? exponent.big->limbs[0] & 1 : exponent.integer & 1;
  if (!is_big(exponent) && exponent.integer == 0) return Value::of_int(1);
  if (bits == 0) return Value::of_int(0);
  if (bits == 1) return Value::of_int(base.integer < 0 && odd ? -1 : 1);
  if (is_big(exponent)) return fail_too_large(rt);
  const auto times = static_cast<std::uint64_t>(exponent.integer);
  if (times > kMaxBits || (bits - 1) * times > kMaxBits) return fail_too_large(rt);
  // Squaring and multiplying cost about twice the last product.
  const std::uint64_t limbs = bits * times / kLimbBits + 1;
  if (!charge_limbs(rt, 2 * limbs * limbs)) return Value::invalid();
  return store(rt, boost::multiprecision::pow(load(base), static_cast<unsigned>(times)));
}

/// Steps of a division of `a` limbs by `b`: each limb of the quotient costs a pass over the
/// divisor, and a limb of that about eight times an addition.
std::uint64_t division_work(std::uint64_t a, std::uint64_t b) { return a < b ? a : 8 * (a - b + 1) * b; }

Value divide_big(Runtime& rt, Value a, Value b, bool want_quotient) {
  if (!charge_limbs(rt, division_work(limbs_of(a), limbs_of(b)))) return Value::invalid();
  const Division d = floor_divide(load(a), load(b));
  return store(rt, want_quotient ? d.quotient : d.remainder);
}

/// The most significant 64 bits of a magnitude, and whether any lower bit is set.
struct TopBits {
  std::uint64_t bits;
  bool more;
};

/// Enough for a correctly rounded double: 53 bits to keep, 11 to round by, and whether anything is below them.
TopBits top_bits(const BigInt& v) {
  const std::uint64_t* const limbs = v.limbs;
  const std::uint32_t last = v.count - 1;
  const int shift = std::countl_zero(limbs[last]);
  TopBits top{limbs[last] << shift, false};
  if (last == 0) return top;
  if (shift != 0) top.bits |= limbs[last - 1] >> (64 - shift);
  top.more = shift == 0 ? limbs[last - 1] != 0 : (limbs[last - 1] << shift) != 0;
  for (std::uint32_t i = 0; i + 1 < last && !top.more; ++i) top.more = limbs[i] != 0;
  return top;
}

/// bits * 2**exponent as the nearest double, ties to even; `more`: something nonzero lies below.
/// Infinity when it is too large.
double nearest_real(std::uint64_t bits, bool more, std::int64_t exponent) {
  const auto width = static_cast<std::int64_t>(std::bit_width(bits));
  // A subnormal keeps fewer than 53 bits, since its last bit cannot be below 2^-1074.
  const std::int64_t drop = std::max(width - kMantissaBits, kSmallestExponent - exponent);
  if (drop > 63) return 0;
  if (drop > 0) {
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    const std::uint64_t rest = bits & (2 * half - 1);
    bits >>= drop;
    exponent += drop;
    if (rest > half || (rest == half && (more || (bits & 1) != 0))) ++bits;
  }
  // std::ldexp takes an int. Both ends are far past what a double can hold.
  const auto clamped = std::clamp<std::int64_t>(exponent, -10'000, 10'000);
  return std::ldexp(static_cast<double>(bits), static_cast<int>(clamped));
}

std::optional<double> finite(double magnitude, bool negative) {
  if (std::isinf(magnitude)) return std::nullopt;
  return negative ? -magnitude : magnitude;
}

}  // namespace

Value big_binary(Runtime& rt, BinaryOperator op, Value a, Value b) {
  switch (op) {
    case BinaryOperator::multiply: return multiply_big(rt, a, b);
    case BinaryOperator::power: return power(rt, a, b);
    case BinaryOperator::floor_divide: return divide_big(rt, a, b, true);
    case BinaryOperator::modulo: return divide_big(rt, a, b, false);
    default: break;
  }
  if (!charge_limbs(rt, limbs_of(a) + limbs_of(b))) return Value::invalid();
  const bool minus = op == BinaryOperator::subtract;
  return store(rt, minus ? Integer(load(a) - load(b)) : Integer(load(a) + load(b)));
}

std::optional<double> big_quotient(Runtime& rt, Value a, Value b) {
  if (!charge_limbs(rt, 2 * (limbs_of(a) + limbs_of(b)))) return 0.0;
  Integer dividend = load(a);
  Integer divisor = load(b);
  const bool negative = (dividend.sign() < 0) != (divisor.sign() < 0);
  if (dividend.is_zero()) return negative ? -0.0 : 0.0;
  dividend = boost::multiprecision::abs(dividend);
  divisor = boost::multiprecision::abs(divisor);
  // Scaled so that the quotient has 56 or 57 bits: three more than a double keeps.
  const auto shift = static_cast<std::int64_t>(bits_of(dividend)) - static_cast<std::int64_t>(bits_of(divisor)) - 56;
  if (shift > 0) divisor <<= shift;
  if (shift < 0) dividend <<= -shift;
  Division d;
  boost::multiprecision::divide_qr(dividend, divisor, d.quotient, d.remainder);
  const auto bits = static_cast<std::uint64_t>(d.quotient);
  return finite(nearest_real(bits, !d.remainder.is_zero(), shift), negative);
}

Value big_negate(Runtime& rt, Value a) { return is_big(a) ? store(rt, -load(a)) : store(rt, -Integer(a.integer)); }

std::optional<double> big_to_real(const BigInt& v) {
  const TopBits top = top_bits(v);
  const auto exponent = static_cast<std::int64_t>(bit_length(v)) - 64;
  return finite(nearest_real(top.bits, top.more, exponent), v.negative);
}

bool is_exact_real(const BigInt& v) {
  constexpr std::uint64_t kBeyondMantissa = (std::uint64_t{1} << (64 - kMantissaBits)) - 1;
  const TopBits top = top_bits(v);
  return !top.more && (top.bits & kBeyondMantissa) == 0 && bit_length(v) <= std::numeric_limits<double>::max_exponent;
}

int big_compare(const BigInt& a, const BigInt& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  const int larger = a.negative ? -1 : 1;
  if (a.count != b.count) return a.count > b.count ? larger : -larger;
  for (std::uint32_t i = a.count; i-- > 0;) {
    if (a.limbs[i] != b.limbs[i]) return a.limbs[i] > b.limbs[i] ? larger : -larger;
  }
  return 0;
}

/// Compares exactly, never by rounding the integer: 2**53 + 1 and 2.0**53 differ in Python.
int big_compare_real(const BigInt& a, double d) {
  const int larger = a.negative ? -1 : 1;
  if (std::signbit(d) != a.negative) return larger;
  if (std::isinf(d)) return -larger;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(d), &exponent);  // in [0.5, 1)
  const auto bits = static_cast<std::int64_t>(bit_length(a));
  if (bits != exponent) return bits > exponent ? larger : -larger;
  const auto real_top = static_cast<std::uint64_t>(std::ldexp(fraction, 64));
  const TopBits top = top_bits(a);
  if (top.bits != real_top) return top.bits > real_top ? larger : -larger;
  return top.more ? larger : 0;
}

Value big_from_real(Runtime& rt, double d) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(d), &exponent);
  Integer n = static_cast<std::uint64_t>(std::ldexp(fraction, kMantissaBits));
  const int shift = exponent - static_cast<int>(kMantissaBits);
  if (shift > 0) n <<= shift;
  if (shift < 0) n >>= -shift;
  return store(rt, d < 0 ? Integer(-n) : n);
}

namespace {

int digit_of(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

/// In a base that is a power of two each digit is some bits: they are put into limbs from the
/// right.
Value from_bit_digits(Runtime& rt, std::string_view digits, unsigned width, bool negative) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (std::uint64_t{digits.size()} * width > kMaxBits + width) return fail_too_large(rt);
  std::vector<std::uint64_t> limbs(digits.size() * width / kLimbBits + 1);
  std::size_t at = 0;
  for (std::size_t i = digits.size(); i-- > 0; at += width) {
    const auto value = static_cast<std::uint64_t>(digit_of(digits[i]));
    limbs[at / kLimbBits] |= value << (at % kLimbBits);
    const std::size_t over = at % kLimbBits + width;
    if (over > kLimbBits && value >> (width - (over - kLimbBits)) != 0) {
      limbs[at / kLimbBits + 1] |= value >> (width - (over - kLimbBits));
    }
  }
  Integer n;
  boost::multiprecision::import_bits(n, limbs.begin(), limbs.end(), kLimbBits, false);
  return store(rt, negative ? Integer(-n) : n);
}

}  // namespace

Value big_from_digits(Runtime& rt, std::string_view digits, int base, bool negative) {
  if (!rt.charge_bytes(digits.size())) return Value::invalid();
  const auto unsigned_base = static_cast<unsigned>(base);
  if (std::has_single_bit(unsigned_base)) {
    return from_bit_digits(rt, digits, static_cast<unsigned>(std::countr_zero(unsigned_base)), negative);
  }
  if (digits.size() > kMaxBits / 2) return fail_too_large(rt);
  const std::uint64_t words = digits.size() / 11 + 1;
  if (!charge_limbs(rt, words * words)) return Value::invalid();
  Integer n;
  while (!digits.empty()) {
    // As many digits at a time as surely fit a word.
    const std::size_t count = std::min<std::size_t>(digits.size(), base <= 10 ? 18 : 11);
    std::uint64_t word = 0;
    std::uint64_t scale = 1;
    for (const char c : digits.substr(0, count)) {
      word = word * unsigned_base + static_cast<std::uint64_t>(digit_of(c));
      scale *= unsigned_base;
    }
    n = n * scale + word;
    digits.remove_prefix(count);
  }
  return store(rt, negative ? Integer(-n) : n);
}

Value big_round(Runtime& rt, Value v, std::uint64_t places) {
  // Ten to the power of `places` has more than 3 * places bits, so nothing is left of a shorter
  // number.
  if (places > bits_of(v) / 3 + 1) return Value::of_int(0);
  const std::uint64_t limbs = limbs_of(v);
  if (!charge_limbs(rt, 4 * limbs * limbs)) return Value::invalid();
  const Integer unit = boost::multiprecision::pow(Integer(10), static_cast<unsigned>(places));
  const Integer n = load(v);
  Division d = floor_divide(n, unit);
  const int against_half = Integer(d.remainder * 2).compare(unit);
  const bool odd = boost::multiprecision::bit_test(boost::multiprecision::abs(d.quotient), 0);
  if (against_half > 0 || (against_half == 0 && odd)) d.quotient += 1;
  return store(rt, d.quotient * unit);
}

std::uint64_t bit_length(const BigInt& v) {
  return std::uint64_t{v.count} * kLimbBits - static_cast<std::uint64_t>(std::countl_zero(v.limbs[v.count - 1]));
}

void append_big(std::string& out, const BigInt& v) {
  Value wrapped = Value::of_int(0);
  wrapped.flags = Value::kBig;
  wrapped.big = &v;
  out += load(wrapped).str();
}

void append_big_bits(std::string& out, const BigInt& v, int base) {
  const auto width = static_cast<std::uint64_t>(std::countr_zero(static_cast<unsigned>(base)));
  if (v.negative) out += '-';
  for (std::uint64_t i = (bit_length(v) + width - 1) / width; i-- > 0;) {
    const std::uint64_t at = i * width;
    std::uint64_t digit = v.limbs[at / kLimbBits] >> (at % kLimbBits);
    const std::uint64_t here = kLimbBits - at % kLimbBits;
    if (here < width && at / kLimbBits + 1 < v.count) digit |= v.limbs[at / kLimbBits + 1] << here;
    out += "0123456789abcdef"[digit & ((std::uint64_t{1} << width) - 1)];
  }
}

}  // namespace parlance
