// Numbers as text and back: str, repr, the float conversions of formatting, int() and float(),
// round().
//
// Digits come from std::to_chars and std::from_chars, which are exact; what is done here is
// CPython's layout of them (Python/pystrtod.c: format_float_short) and CPython's grammar of number
// literals (Objects/longobject.c: PyLong_FromString, Objects/floatobject.c: PyFloat_FromString).
// Begin reading at lay_out for printing, at parse_int for parsing.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/ascii.h"
#include "base/parse_double.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "value/bigint.h"
#include "value/number.h"
#include "value/string.h"

namespace parlance {
namespace {

/// CPython 3.11: sys.int_info.default_max_str_digits.
/// No integer of more bits has at most kMostDigits decimal digits.
constexpr std::uint64_t kMaxDigitBits = 14'285;

/// Digits before the point of the largest double, plus sign, point, exponent and some air.
constexpr std::size_t kRealOverhead = std::numeric_limits<double>::max_exponent10 + 24;

// ---- printing floats

/// The finite number 0.d₁d₂d₃… * 10**point, where the digits are d.
struct Decimal {
  std::string_view digits;
  int point;
};

/// The number that std::to_chars printed into `text` as d.ddde±xx; the digits are gathered in
/// place.
/// "1.25e+02" becomes the digits 125 and the point 3. The point of to_chars is overwritten by the digits behind it.
Decimal read_scientific(char* begin, char* end) {
  char* const mark = std::find(begin, end, 'e');
  int exponent = 0;
  const char* const digits = mark + (mark[1] == '+' ? 2 : 1);
  std::from_chars(digits, end, exponent);
  char* last = mark;
  if (mark - begin > 1) {
    std::memmove(begin + 1, begin + 2, static_cast<std::size_t>(mark - begin - 2));
    --last;
  }
  return {{begin, static_cast<std::size_t>(last - begin)}, exponent + 1};
}

/// What goes behind digits that end at the point.
std::string_view bare_tail(bool add_zero, bool alternate) { return add_zero ? ".0" : alternate ? "." : ""; }

char* put(char* out, std::string_view bytes) {
  std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

char* put_zeros(char* out, std::size_t n) {
  std::memset(out, '0', n);
  return out + n;
}

/// Digits with the point among them; `out` has room for all of it.
char* put_fixed(char* out, Decimal d, std::string_view tail) {
  if (d.point <= 0) {
    out = put_zeros(put(out, "0."), static_cast<std::size_t>(-d.point));
    return put(out, d.digits);
  }
  const auto whole = static_cast<std::size_t>(d.point);
  if (whole >= d.digits.size()) {
    out = put_zeros(put(out, d.digits), whole - d.digits.size());
    return put(out, tail);
  }
  out = put(put(out, d.digits.substr(0, whole)), ".");
  return put(out, d.digits.substr(whole));
}

char* put_scientific(char* out, Decimal d, bool alternate) {
  *out++ = d.digits[0];
  if (d.digits.size() > 1 || alternate) *out++ = '.';
  out = put(out, d.digits.substr(1));
  const int exponent = d.point - 1;
  out = put(out, exponent < 0 ? "e-" : "e+");
  const int magnitude = std::abs(exponent);
  if (magnitude < 10) *out++ = '0';
  return std::to_chars(out, out + 4, magnitude).ptr;
}

/// From this many digits before the point on, repr shows an exponent.
constexpr int kReprPoint = 16;
/// With the point this far left of the digits, repr and %g show an exponent.
constexpr int kSmallestPoint = -4;

char* write_finite(char* out, double magnitude, bool alternate) {
  char buffer[32];
  const char* const end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, std::chars_format::scientific).ptr;
  const Decimal d = read_scientific(buffer, buffer + (end - buffer));
  if (d.point <= kSmallestPoint || d.point > kReprPoint) return put_scientific(out, d, alternate);
  return put_fixed(out, d, ".0");
}

/// "inf" and "nan", which is never signed.
char* write_special(char* out, double v) {
  if (std::isnan(v)) return put(out, "nan");
  return put(out, v < 0 ? "-inf" : "inf");
}

void append_plain(std::string& out, double magnitude, std::chars_format format, int precision, bool alternate) {
  const std::size_t before = out.size();
  out.resize(before + kRealOverhead + static_cast<std::size_t>(precision));
  const char* const end = std::to_chars(out.data() + before, out.data() + out.size(), magnitude, format, precision).ptr;
  out.resize(static_cast<std::size_t>(end - out.data()));
  if (!alternate || precision != 0) return;
  const std::size_t exponent = out.find('e', before);
  out.insert(exponent == std::string::npos ? out.size() : exponent, 1, '.');
}

/// %g: at most `precision` digits, with an exponent when it is shorter so. `add_zero` is the
/// variant of float.__format__ without a type, which shows a digit behind the point.
/// The exponent is taken after rounding: '%.1g' of 9.9 is 1e+01, whose exponent is one more.
void append_general(std::string& out, double magnitude, int precision, bool alternate, bool add_zero) {
  precision = std::max(precision, 1);
  std::string digits(kRealOverhead + static_cast<std::size_t>(precision), '\0');
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), magnitude,
                                        std::chars_format::scientific, precision - 1)
                              .ptr;
  Decimal d = read_scientific(digits.data(), digits.data() + (end - digits.data()));
  if (!alternate) d.digits = d.digits.substr(0, std::max<std::size_t>(d.digits.find_last_not_of('0') + 1, 1));
  const std::size_t before = out.size();
  out.resize(before + kRealOverhead + d.digits.size());
  char* const at = out.data() + before;
  const bool exponent = d.point <= kSmallestPoint || d.point > precision - (add_zero ? 1 : 0);
  char* const last = exponent ? put_scientific(at, d, alternate) : put_fixed(at, d, bare_tail(add_zero, alternate));
  out.resize(static_cast<std::size_t>(last - out.data()));
}

void append_magnitude(std::string& out, double magnitude, char type, int precision, bool alternate) {
  constexpr int kDefaultPrecision = 6;
  if (type == 0 && precision < 0) {
    char buffer[kNumberText];
    out.append(buffer, write_finite(buffer, magnitude, alternate));
    return;
  }
  if (precision < 0) precision = kDefaultPrecision;
  switch (type) {
    case 'e': return append_plain(out, magnitude, std::chars_format::scientific, precision, alternate);
    case 'f':
    case '%': return append_plain(out, magnitude, std::chars_format::fixed, precision, alternate);
    default: return append_general(out, magnitude, precision, alternate, type == 0);
  }
}

void uppercase_from(std::string& out, std::size_t begin) {
  for (std::size_t i = begin; i < out.size(); ++i) {
    if (out[i] >= 'a' && out[i] <= 'z') out[i] = static_cast<char>(out[i] - 0x20);
  }
}

// ---- printing integers

bool fail_digits(Runtime& rt, std::string_view detail, Value culprit) {
  rt.fail(ErrorCode::value,
          "Exceeds the limit (4300 digits) for integer string conversion" + std::string(detail) +
              "; use sys.set_int_max_str_digits() to increase the limit",
          culprit);
  return false;
}

/// The number of bits refuses most integers at once, since printing takes quadratic time. Near the limit only the
/// digits tell, and they are counted without the sign, as CPython does.
bool append_big_decimal(Runtime& rt, std::string& out, Value v) {
  if (bit_length(*v.big) > kMaxDigitBits) return fail_digits(rt, "", v);
  if (!rt.charge(v.big->count * v.big->count / 8)) return false;
  const std::size_t before = out.size();
  append_big(out, *v.big);
  if (out.size() - before <= kMostDigits + (v.big->negative ? 1 : 0)) return true;
  out.resize(before);
  return fail_digits(rt, "", v);
}

}  // namespace

char* write_int(char* out, std::int64_t v) { return std::to_chars(out, out + kNumberText, v).ptr; }

char* write_real(char* out, double v) {
  if (!std::isfinite(v)) return write_special(out, v);
  if (std::signbit(v)) *out++ = '-';
  return write_finite(out, std::fabs(v), false);
}

Value integer_text(Runtime& rt, Value v) {
  if (!is_big(v)) {
    char buffer[kNumberText];
    const char* const end = write_int(buffer, v.integer);
    return make_derived(rt, {buffer, static_cast<std::size_t>(end - buffer)}, v);
  }
  std::string digits;
  if (!append_big_decimal(rt, digits, v)) return Value::invalid();
  return make_derived(rt, digits, v);
}

void append_real(std::string& out, double v, char type, int precision, bool alternate) {
  const bool upper = type == 'E' || type == 'F' || type == 'G';
  const char lower_type = upper ? static_cast<char>(type | 0x20) : type;
  const std::size_t before = out.size();
  if (type == '%') v *= 100;
  if (std::isfinite(v)) {
    if (std::signbit(v)) out += '-';
    append_magnitude(out, std::fabs(v), lower_type, precision, alternate);
  } else {
    char buffer[kNumberText];
    out.append(buffer, write_special(buffer, v));
  }
  if (upper) uppercase_from(out, before);
  if (type == '%') out += '%';
}

bool append_integer(Runtime& rt, std::string& out, Value v, int base) {
  if (is_big(v)) {
    if (base == 10) return append_big_decimal(rt, out, v);
    append_big_bits(out, *v.big, base);
    return true;
  }
  char buffer[66];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, v.integer, base).ptr);
  return true;
}

// ---- parsing

namespace {

using ascii::is_digit;
/// C's isspace, which is what int() and float() strip once characters beyond ASCII have been
/// mapped.
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view strip(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// `text` in ASCII: digits of other scripts become digits, other spaces blanks, the rest '?'.
/// Uses `buffer` only when there is something to change.
std::string_view to_ascii(std::string_view text, std::string& buffer) {
  if (utf8::is_ascii(text)) return text;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const auto [c, size] = utf8::decode(p, end);
    const int digit = unicode::decimal_value(c);
    p += size;
    if (c < 0x80) {
      buffer += static_cast<char>(c);
    } else if (digit >= 0) {
      buffer += static_cast<char>('0' + digit);
    } else {
      buffer += unicode::is_space(c) ? ' ' : '?';
    }
  }
  return buffer;
}

/// Takes a sign off the front; true for '-'.
bool take_sign(std::string_view& text) {
  if (text.empty() || (text[0] != '-' && text[0] != '+')) return false;
  const bool negative = text[0] == '-';
  text.remove_prefix(1);
  return negative;
}

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

/// The base that "0x", "0o" or "0b" in front of `text` names; 0 if none.
int prefixed_base(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 0;
  switch (text[1] | 0x20) {
    case 'x': return 16;
    case 'o': return 8;
    case 'b': return 2;
    default: return 0;
  }
}

/// Digits of one base with single underscores between them, cleaned of those; false if there is
/// anything else. `buffer` is used only when there are underscores.
bool clean_digits(std::string_view text, int base, std::string& buffer, std::string_view& digits) {
  char before = '_';
  for (const char c : text) {
    if (c == '_' ? before == '_' : digit_value(c) >= base) return false;
    before = c;
  }
  if (before == '_') return false;
  digits = text;
  if (text.find('_') == std::string_view::npos) return true;
  buffer.clear();
  std::copy_if(text.begin(), text.end(), std::back_inserter(buffer), [](char c) { return c != '_'; });
  digits = buffer;
  return true;
}

bool is_power_of_two(int base) { return (base & (base - 1)) == 0; }

/// Any number of digits, none of them wrong.
Value from_digits(Runtime& rt, std::string_view digits, int base, bool negative) {
  std::int64_t small = 0;
  const char* const end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, small, base).ec == std::errc()) {
    return Value::of_int(negative ? -small : small);
  }
  return big_from_digits(rt, digits, base, negative);
}

}  // namespace

Value integer_from_digits(Runtime& rt, std::string_view digits, int base, bool negative) {
  if (digits.size() > kMostDigits && !is_power_of_two(base)) {
    fail_digits(rt, ": value has " + std::to_string(digits.size()) + " digits", {});
    return Value::invalid();
  }
  return from_digits(rt, digits, base, negative);
}

std::optional<Value> parse_int(Runtime& rt, std::string_view text, int base) {
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  if (!rt.charge_bytes(text.size())) return Value::invalid();
  std::string buffer;
  std::string_view rest = strip(to_ascii(text, buffer));
  const bool negative = take_sign(rest);
  const int prefixed = prefixed_base(rest);
  const bool only_zero = base == 0 && prefixed == 0 && rest.size() > 1 && rest[0] == '0';
  if (base == 0) base = prefixed == 0 ? 10 : prefixed;
  if (prefixed == base) {
    rest.remove_prefix(2);
    if (!rest.empty() && rest[0] == '_') rest.remove_prefix(1);
  }
  std::string cleaned;
  std::string_view digits;
  if (!clean_digits(rest, base, cleaned, digits)) return std::nullopt;
  if (digits.size() > kMostDigits && !is_power_of_two(base)) return std::nullopt;
  // Without a base, a decimal number has no zeros in front; "00" is fine.
  if (only_zero && digits.find_first_not_of('0') != std::string_view::npos) return std::nullopt;
  return from_digits(rt, digits, base, negative);
}

namespace {

/// Where the digits from `at` on end.
std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

/// digits [. digits] [e [sign] digits], with a digit before the exponent.
bool is_real_literal(std::string_view text) {
  std::size_t at = skip_digits(text, 0);
  std::size_t digits = at;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = skip_digits(text, at + 1);
    digits += end - at - 1;
    at = end;
  }
  if (digits == 0) return false;
  if (at == text.size() || (text[at] | 0x20) != 'e') return at == text.size();
  ++at;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  return at < text.size() && skip_digits(text, at) == text.size();
}

/// Whether a literal that no double can hold is too large, rather than too small.
bool is_too_large(std::string_view literal) {
  constexpr std::int64_t kFar = 1'000'000'000'000;  // more than any text has digits
  const std::size_t exponent_mark = std::min(literal.find_first_of("eE"), literal.size());
  const std::string_view mantissa = literal.substr(0, exponent_mark);
  std::int64_t exponent = 0;
  if (exponent_mark < literal.size()) {
    std::string_view digits = literal.substr(exponent_mark + 1);
    const bool negative = take_sign(digits);
    const char* const end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, exponent).ec != std::errc()) exponent = kFar;
    exponent = std::min(exponent, kFar);
    if (negative) exponent = -exponent;
  }
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const auto first = static_cast<std::int64_t>(std::min(mantissa.find_first_not_of("0."), mantissa.size()));
  return point - first + exponent > 0;
}

double literal_value(std::string_view literal) {
  double value = 0;
  const auto result = parse_double(literal.data(), literal.data() + literal.size(), value);
  if (result.ec == std::errc()) return value;
  return is_too_large(literal) ? std::numeric_limits<double>::infinity() : 0;
}

/// Takes out underscores, each of which must stand between two digits.
bool drop_underscores(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
    } else if (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<double> parse_real(std::string_view text) {
  std::string buffer;
  std::string cleaned;
  std::string_view rest = strip(to_ascii(text, buffer));
  if (rest.find('_') != std::string_view::npos) {
    if (!drop_underscores(rest, cleaned)) return std::nullopt;
    rest = cleaned;
  }
  const bool negative = take_sign(rest);
  double magnitude = 0;
  if (is_real_literal(rest)) {
    magnitude = literal_value(rest);
  } else if (equals_ignoring_case(rest, "inf") || equals_ignoring_case(rest, "infinity")) {
    magnitude = std::numeric_limits<double>::infinity();
  } else if (equals_ignoring_case(rest, "nan")) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else {
    return std::nullopt;
  }
  return negative ? -magnitude : magnitude;
}

// ---- rounding

namespace {

// Beyond these, no digit of a double is affected, or none is left.
constexpr std::int64_t kMostPlaces = 323;
constexpr std::int64_t kFewestPlaces = -308;

/// |v| rounded to a multiple of ten to the power of `zeros` > 0.
double round_to_zeros(double magnitude, int zeros) {
  std::array<char, 800> buffer;  // enough for every digit of a double of one digit or more
  char* const begin = buffer.data();
  const auto print = [&](int precision) {
    const auto end =
        std::to_chars(begin, begin + buffer.size(), magnitude, std::chars_format::scientific, precision).ptr;
    return std::string_view(begin, static_cast<std::size_t>(end - begin));
  };
  const Decimal exact = read_scientific(begin, begin + print(770).size());
  const int kept = exact.point - zeros;
  if (kept > 0) return literal_value(print(kept - 1));
  const bool up = kept == 0 && exact.digits[0] >= '5' &&
                  (exact.digits[0] > '5' || exact.digits.find_first_not_of('0', 1) != std::string_view::npos);
  return up ? literal_value("1e" + std::to_string(zeros)) : 0;
}

Value round_real(Runtime& rt, double v, std::int64_t places) {
  if (!std::isfinite(v) || v == 0 || places > kMostPlaces) return Value::of_real(v);
  if (places < kFewestPlaces) return Value::of_real(std::copysign(0.0, v));
  double magnitude = std::fabs(v);
  if (places < 0) {
    magnitude = round_to_zeros(magnitude, static_cast<int>(-places));
  } else {
    std::string digits;
    append_plain(digits, magnitude, std::chars_format::fixed, static_cast<int>(places), false);
    magnitude = literal_value(digits);
  }
  if (std::isinf(magnitude)) {
    return rt.fail(ErrorCode::overflow, "rounded value too large to represent");
  }
  return Value::of_real(std::copysign(magnitude, v));
}

Value round_integer(Runtime& rt, Value v, std::int64_t places) {
  if (places >= 0) return number_positive(v);
  return big_round(rt, v, -static_cast<std::uint64_t>(places));
}

}  // namespace

Value round_number(Runtime& rt, Value number, Value digits) {
  const std::uint32_t origin = number.origin;
  Value result;
  if (digits.is_none()) {
    result = number.kind == Kind::real ? integer_from_real(rt, std::nearbyint(number.real)) : number_positive(number);
  } else {
    const std::optional<std::int64_t> places = to_index(rt, digits);
    if (!places) return Value::invalid();
    result = number.kind == Kind::real ? round_real(rt, number.real, *places) : round_integer(rt, number, *places);
  }
  if (!result.is_invalid()) result.origin = origin;
  return result;
}

}  // namespace parlance
