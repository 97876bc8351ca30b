// Methods of int (and bool, which is one) and float.
//
// Rules: CPython 3.11 Objects/longobject.c and floatobject.c. Attributes that are no methods (real,
// numerator …) are in methods.cpp. Begin reading at the tables at the end.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/ascii.h"
#include "jinja/objects/methods.h"
#include "jinja/objects/rare/bytes.h"
#include "value/iterate.h"
#include "value/number.h"

namespace parlance::jinja {
namespace {

/// The magnitude of an int as limbs, least significant first; one limb of zero for zero.
struct Magnitude {
  explicit Magnitude(Value v) {
    if ((v.flags & Value::kBig) != 0) {
      limbs = {v.big->limbs, v.big->count};
      negative = v.big->negative;
      return;
    }
    negative = v.integer < 0;
    small = negative ? ~static_cast<std::uint64_t>(v.integer) + 1 : static_cast<std::uint64_t>(v.integer);
    limbs = {&small, 1};
  }
  Magnitude(const Magnitude&) = delete;

  std::uint64_t bits() const { return limbs.size() * 64 - static_cast<std::uint64_t>(std::countl_zero(limbs.back())); }

  std::uint64_t small = 0;
  bool negative = false;
  std::span<const std::uint64_t> limbs;
};

Value plain_int(Value v) { return v.kind == Kind::boolean ? Value::of_int(v.integer) : v; }

Value pair(Runtime& rt, Value a, Value b) {
  const Value members[] = {a, b};
  return copy_list(rt, members, Kind::tuple);
}

/// True.as_integer_ratio() is (1, 1): methods of int give an int for a bool.
Value int_as_ratio(Call& call) { return pair(call.rt, plain_int(call[0]), Value::of_int(1)); }
Value int_conjugate(Call& call) { return plain_int(call[0]); }

Value int_bit_length(Call& call) { return Value::of_int(static_cast<std::int64_t>(Magnitude(call[0]).bits())); }

Value int_bit_count(Call& call) {
  std::int64_t ones = 0;
  for (std::uint64_t limb : Magnitude(call[0]).limbs) ones += std::popcount(limb);
  return Value::of_int(ones);
}

/// Argument i as byte order; false with the failure recorded.
bool read_byte_order(const Call& call, std::size_t i, bool& little) {
  if (!call[i].is_string()) {
    fail_type(call, i, std::string(call.builtin->name) + "() argument 'byteorder' must be str, not ");
    return false;
  }
  const std::string_view order = text(call.rt, call[i]);
  little = order == "little";
  if (little || order == "big") return true;
  call.fail(ErrorCode::value, "byteorder must be either 'little' or 'big'");
  return false;
}

/// Does `number` fit `length` bytes?
bool fits_bytes(const Magnitude& number, std::uint64_t length, bool is_signed) {
  const std::uint64_t room = length * 8;
  // (0).to_bytes(0, 'big') works: zero has no bits, since its countl_zero() is 64.
  if (!is_signed) return number.bits() <= room;
  if (room == 0) return number.bits() <= (number.negative ? 1 : 0);  // -1 takes no bytes in CPython
  if (number.bits() < room) return true;
  // The most negative number has one bit more than the most positive one.
  if (!number.negative) return number.bits() == 0;
  if (number.bits() != room) return false;
  std::uint64_t ones = 0;
  for (std::uint64_t limb : number.limbs) ones += static_cast<std::uint64_t>(std::popcount(limb));
  return ones == 1;
}

Value int_to_bytes(Call& call) {
  std::int64_t length = 0;
  bool little = false;
  if (!index_argument(call, 1, length) || !read_byte_order(call, 2, little)) return Value::invalid();
  const bool is_signed = call.truth(3);
  if (length < 0) return call.fail(ErrorCode::value, "length argument must be non-negative");
  const Magnitude number(call[0]);
  if (number.negative && !is_signed) {
    return call.fail(ErrorCode::overflow, "can't convert negative int to unsigned");
  }
  const auto size = static_cast<std::uint64_t>(length);
  constexpr std::int64_t kLargest = INT64_MAX - 33;  // CPython: less than the head of an object
  if (length > kLargest) return call.fail(ErrorCode::overflow, "byte string is too large");
  if (!call.rt.reserve(size)) return Value::invalid();
  if (!fits_bytes(number, size, is_signed)) return call.fail(ErrorCode::overflow, "int too big to convert");
  std::string out(size, '\0');
  // Two's complement byte by byte: inverted, plus one that is carried upwards.
  unsigned carry = number.negative ? 1 : 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t limb = i / 8;
    unsigned byte = limb < number.limbs.size() ? (number.limbs[limb] >> (i % 8 * 8)) & 0xFF : 0;
    if (number.negative) {
      byte = (~byte & 0xFF) + carry;
      carry = byte >> 8;
    }
    out[little ? i : size - 1 - i] = static_cast<char>(byte);
  }
  return make_bytes(call.rt, out);
}

/// The bytes that int.from_bytes is given: a bytes object or an iterable of small ints.
bool read_bytes(Call& call, std::size_t i, std::string& out) {
  if (is_object(call[i], kBytesType)) {
    out = static_cast<const BytesObject*>(call[i].object)->bytes;
    return true;
  }
  Iterator it;
  if (call[i].is_string() || !iterate(call.rt, call[i], it)) {
    // CPython's message names the type, not iter()'s complaint.
    call.rt.failure = {};
    fail_type(call, i, "cannot convert '");
    call.rt.failure.message += "' object to bytes";
    return false;
  }
  for (Value item; it.next(call.rt, item) && call.rt.charge(1);) {
    if (item.kind != Kind::integer && item.kind != Kind::boolean) {
      call.fail(ErrorCode::type, "'" + std::string(type_name(item)) + "' object cannot be interpreted as an integer");
    } else if ((item.flags & Value::kBig) != 0 || item.integer < 0 || item.integer > 255) {
      call.fail(ErrorCode::value, "bytes must be in range(0, 256)");
    }
    if (call.rt.failed()) return false;
    out += static_cast<char>(item.integer);
  }
  return !call.rt.failed();
}

Value int_from_bytes(Call& call) {
  std::string bytes;
  bool little = false;
  if (!read_byte_order(call, 2, little) || !read_bytes(call, 1, bytes)) return Value::invalid();
  const bool is_signed = call.truth(3);
  if (!little) bytes.assign(bytes.rbegin(), bytes.rend());
  const bool negative = is_signed && !bytes.empty() && (bytes.back() & 0x80) != 0;
  if (negative) {
    unsigned carry = 1;
    for (char& c : bytes) {
      const unsigned byte = (~static_cast<unsigned char>(c) & 0xFFu) + carry;
      c = static_cast<char>(byte);
      carry = byte >> 8;
    }
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  // Base 16 converts in linear time, and "0" makes a number of no bytes.
  std::string digits = "0";
  for (std::size_t i = bytes.size(); i-- > 0;) {
    digits += kHex[static_cast<unsigned char>(bytes[i]) >> 4];
    digits += kHex[static_cast<unsigned char>(bytes[i]) & 15];
  }
  return integer_from_digits(call.rt, digits, 16, negative);
}

// ---- float

Value fail_ratio(Call& call) {
  const bool nan = std::isnan(call[0].real);
  return call.fail(nan ? ErrorCode::value : ErrorCode::overflow,
                   nan ? "cannot convert NaN to integer ratio" : "cannot convert Infinity to integer ratio");
}

/// x as an odd integer times a power of two: exact, so numerator and denominator are too.
Value real_as_ratio(Call& call) {
  if (!std::isfinite(call[0].real)) return fail_ratio(call);
  int exponent = 0;
  double fraction = std::frexp(call[0].real, &exponent);
  // At most 53 turns: a double's fraction has no more bits.
  for (; fraction != std::floor(fraction); --exponent) fraction *= 2;
  const Value power =
      number_binary(call.rt, BinaryOperator::power, Value::of_int(2), Value::of_int(std::abs(exponent)));
  const Value odd = integer_from_real(call.rt, fraction);
  if (exponent < 0) return pair(call.rt, odd, power);
  const Value whole = number_binary(call.rt, BinaryOperator::multiply, odd, power);
  return whole.is_invalid() ? whole : pair(call.rt, whole, Value::of_int(1));
}

Value real_is_integer(Call& call) {
  const double x = call[0].real;
  return Value::boolean(std::isfinite(x) && std::floor(x) == x);
}

Value real_conjugate(Call& call) { return call[0]; }

Value real_hex(Call& call) {
  const double x = call[0].real;
  if (!std::isfinite(x)) return to_repr(call.rt, call[0]);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  std::string out = std::signbit(x) ? "-0x" : "0x";
  if (exponent == 0 && fraction == 0) return make_derived(call.rt, out + "0.0p+0", call[0]);
  out += exponent == 0 ? "0." : "1.";
  exponent = exponent == 0 ? -1022 : exponent - 1023;
  for (int shift = 48; shift >= 0; shift -= 4) out += "0123456789abcdef"[fraction >> shift & 15];
  out += exponent < 0 ? "p-" : "p+";
  return make_derived(call.rt, out + std::to_string(std::abs(exponent)), call[0]);
}

bool is_hex_digit(char c) { return ascii::hex_value(c) >= 0; }
unsigned hex_digit_value(char c) { return static_cast<unsigned>(ascii::hex_value(c)); }

bool take_word(std::string_view& s, std::string_view word) {
  if (s.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if ((s[i] | 0x20) != word[i]) return false;
  }
  s.remove_prefix(word.size());
  return true;
}

/// The digits of float.fromhex: 64 leading bits, whether any lower bit is set, and the exponent of
/// bit 0.
/// No digit past 61 bits changes the value by more than its rounding, and for that it matters only whether one of them
/// is not zero: so a text of any length takes constant memory.
struct HexDigits {
  std::uint64_t bits = 0;
  bool more = false;
  std::int64_t exponent = 0;
  bool any = false;

  void add(unsigned digit, bool after_point) {
    any = true;
    const bool full = (bits >> 60) != 0;
    if (full) {
      more = more || digit != 0;
    } else {
      bits = bits << 4 | digit;
    }
    if (full && !after_point) exponent += 4;
    if (!full && after_point) exponent -= 4;
  }
};

bool take_exponent(std::string_view& s, std::int64_t& exponent) {
  if (s.empty() || (s[0] | 0x20) != 'p') return true;
  s.remove_prefix(1);
  const bool negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  std::int64_t number = 0;
  if (s.empty() || s[0] < '0' || s[0] > '9') return false;
  // The digits go on being read, but no longer counted: past 2^40 the value is zero or infinity in any case.
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  for (; !s.empty() && s[0] >= '0' && s[0] <= '9'; s.remove_prefix(1)) {
    if (number < kHuge) number = number * 10 + (s[0] - '0');
  }
  exponent += negative ? -number : number;
  return true;
}

/// digits.bits * 2^exponent, correctly rounded (half to even), infinity if too large.
double scaled(const HexDigits& digits) {
  if (digits.bits == 0) return 0;
  const int length = 64 - std::countl_zero(digits.bits);
  const std::int64_t top = digits.exponent + length;  // the value is below 2^top
  if (top > 1024) return std::numeric_limits<double>::infinity();
  if (top < -1074) return 0;
  const std::int64_t unit = top - 53 < -1074 ? -1074 : top - 53;
  // At most 64, since `top` is at least -1074: the shifts below stay inside of the word.
  const std::int64_t dropped = unit - digits.exponent;
  if (dropped <= 0) return std::ldexp(static_cast<double>(digits.bits), static_cast<int>(digits.exponent));
  std::uint64_t kept = dropped >= 64 ? 0 : digits.bits >> dropped;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t below = dropped >= 64 ? digits.bits : digits.bits & ((half << 1) - 1);
  const bool above_half = below > half || (below == half && digits.more);
  if (above_half || (below == half && (kept & 1) != 0)) ++kept;
  return std::ldexp(static_cast<double>(kept), static_cast<int>(unit));
}

enum class HexResult { fine, malformed, too_large };

HexResult parse_hex(std::string_view s, double& out) {
  const bool negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  double value = 0;
  if (take_word(s, "inf")) {
    take_word(s, "inity");
    value = std::numeric_limits<double>::infinity();
  } else if (take_word(s, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (s.size() > 1 && s[0] == '0' && (s[1] | 0x20) == 'x') s.remove_prefix(2);
    HexDigits digits;
    for (; !s.empty() && is_hex_digit(s[0]); s.remove_prefix(1)) digits.add(hex_digit_value(s[0]), false);
    if (!s.empty() && s[0] == '.') {
      s.remove_prefix(1);
      for (; !s.empty() && is_hex_digit(s[0]); s.remove_prefix(1)) digits.add(hex_digit_value(s[0]), true);
    }
    if (!digits.any || !take_exponent(s, digits.exponent)) return HexResult::malformed;
    value = scaled(digits);
    if (std::isinf(value) && s.empty()) return HexResult::too_large;
  }
  out = negative ? -value : value;
  return s.empty() ? HexResult::fine : HexResult::malformed;
}

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view kBlank = " \t\n\v\f\r";
  const std::size_t begin = s.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return s.substr(begin, s.find_last_not_of(kBlank) - begin + 1);
}

Value real_fromhex(Call& call) {
  if (!call[1].is_string()) return call.fail(ErrorCode::type, "bad argument type for built-in operation");
  std::string_view digits;
  if (!utf8_argument(call, 1, digits) || !call.rt.charge_bytes(digits.size())) return Value::invalid();
  double value = 0;
  switch (parse_hex(trimmed(digits), value)) {
    case HexResult::fine: return Value::of_real(value);
    case HexResult::malformed: return call.fail(ErrorCode::value, "invalid hexadecimal floating-point string");
    case HexResult::too_large: break;
  }
  return call.fail(ErrorCode::overflow, "hexadecimal value too large to represent as a float");
}

constexpr Builtin kIntegerRows[] = {
    {"as_integer_ratio", "", "self, /", int_as_ratio, "The number as numerator and denominator.",
     "{{ 7.as_integer_ratio() }} -> (7, 1)"},
    {"bit_count", "", "self, /", int_bit_count, "How many bits of the absolute value are 1.",
     "{{ 13.bit_count() }} -> 3"},
    {"bit_length", "", "self, /", int_bit_length, "How many bits the absolute value takes.",
     "{{ 13.bit_length() }} -> 4"},
    {"conjugate", "", "self, /", int_conjugate, "The number itself.", "{{ 7.conjugate() }} -> 7"},
    {"from_bytes", "", "self, /, bytes, byteorder='big', *, signed=false", int_from_bytes,
     "The number that some bytes stand for.", "{{ 0.from_bytes([1, 0]) }} -> 256"},
    {"to_bytes", "", "self, /, length=1, byteorder='big', *, signed=false", int_to_bytes, "The number as bytes.",
     "{{ 256.to_bytes(2) }} -> b'\\x01\\x00'"},
};

constexpr Builtin kRealRows[] = {
    {"as_integer_ratio", "", "self, /", real_as_ratio, "The number as numerator and denominator, exactly.",
     "{{ 0.75.as_integer_ratio() }} -> (3, 4)"},
    {"conjugate", "", "self, /", real_conjugate, "The number itself.", "{{ 1.5.conjugate() }} -> 1.5"},
    {"fromhex", "", "self, string, /", real_fromhex, "The number that a hexadecimal string stands for.",
     "{{ 0.0.fromhex('0x1.8p+1') }} -> 3.0"},
    {"hex", "", "self, /", real_hex, "The number as a hexadecimal string.", "{{ 3.0.hex() }} -> 0x1.8000000000000p+1"},
    {"is_integer", "", "self, /", real_is_integer, "Whether there is nothing after the point.",
     "{{ 3.0.is_integer() }} -> True"},
};

}  // namespace

std::span<const Builtin> integer_methods() { return kIntegerRows; }
std::span<const Builtin> real_methods() { return kRealRows; }

}  // namespace parlance::jinja
