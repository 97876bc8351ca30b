// Number literals in, floats out. Begin reading at read_number and append_float.
//
// Digits come from std::from_chars and std::to_chars, which are exact; what is done here is Go's
// grammar and layout.
#include "gotemplate/number.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/parse_double.h"
#include "gotemplate/quote.h"
#include "gotemplate/types.h"

namespace parlance::gotemplate {
namespace {

char lower(char c) { return static_cast<char>(c | 0x20); }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }

/// An underscore must stand between digits, or between a base prefix and a digit.
bool underscores_fit(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  char saw = '^';
  bool hex = false;
  if (text.size() >= 2 && text[0] == '0' && std::string_view("box").find(lower(text[1])) != std::string_view::npos) {
    hex = lower(text[1]) == 'x';
    saw = '0';
    text.remove_prefix(2);
  }
  for (const char c : text) {
    if (is_decimal(c) || (hex && lower(c) >= 'a' && lower(c) <= 'f')) {
      saw = '0';
    } else if (c == '_') {
      if (saw != '0') return false;
      saw = '_';
    } else {
      if (saw == '_') return false;
      saw = '!';
    }
  }
  return saw != '_';
}

std::string without_underscores(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '_') out += c;
  }
  return out;
}

enum class Read : std::uint8_t { fine, syntax, range };

/// strconv.ParseUint(text, 0, 64).
Read parse_unsigned(std::string_view text, std::uint64_t& value) {
  if (text.empty()) return Read::syntax;
  int base = 10;
  std::string_view digits = text;
  if (text[0] == '0') {
    const char prefix = text.size() >= 3 ? lower(text[1]) : '\0';
    base = prefix == 'b' ? 2 : prefix == 'x' ? 16 : 8;
    digits.remove_prefix(prefix == 'b' || prefix == 'x' || prefix == 'o' ? 2 : 1);
  }
  value = 0;
  const std::string plain = without_underscores(digits);
  if (plain.size() != digits.size() && !underscores_fit(text)) return Read::syntax;
  if (plain.empty()) return Read::fine;  // "0"
  const auto [end, failed] = std::from_chars(plain.data(), plain.data() + plain.size(), value, base);
  if (end != plain.data() + plain.size()) return Read::syntax;
  return failed == std::errc::result_out_of_range ? Read::range : Read::fine;
}

/// strconv.ParseInt(text, 0, 64); the value only where it fits.
bool parse_signed(std::string_view text, std::int64_t& value) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  std::uint64_t magnitude = 0;
  if (parse_unsigned(text, magnitude) != Read::fine) return false;
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;
  if (magnitude > kLimit || (!negative && magnitude == kLimit)) return false;
  value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return true;
}

/// strconv.ParseFloat of what the lexer took for a number; nullopt for wrong syntax and for
/// overflow.
std::optional<double> parse_float(std::string_view text) {
  if (text.find('_') != text.npos && !underscores_fit(text)) return std::nullopt;
  const std::string plain = without_underscores(text);
  std::string_view rest = plain;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  auto format = std::chars_format::general;
  if (rest.size() > 2 && rest[0] == '0' && lower(rest[1]) == 'x') {
    if (rest.find_first_of("pP") == rest.npos) return std::nullopt;
    rest.remove_prefix(2);
    format = std::chars_format::hex;
  }
  if (rest.empty() || (!is_decimal(rest[0]) && rest[0] != '.' && format != std::chars_format::hex)) return std::nullopt;
  double value = 0;
  const auto [end, failed] = parse_double(rest.data(), rest.data() + rest.size(), value, format);
  if (end != rest.data() + rest.size()) return std::nullopt;
  if (failed == std::errc::result_out_of_range) {
    // Too small is zero, too large is an error; from_chars calls both out of range.
    const std::size_t exponent = rest.find_first_of(format == std::chars_format::hex ? "pP" : "eE");
    if (exponent == rest.npos || exponent + 1 >= rest.size() || rest[exponent + 1] != '-') return std::nullopt;
    value = 0;
  }
  return negative ? -value : value;
}

Value complex_value(Arena& arena, double real, double imaginary) {
  Value* parts = arena.allocate_array<Value>(2);
  parts[0] = Value::of_real(real);
  parts[1] = Value::of_real(imaginary);
  Value v;
  v.kind = Kind::tuple;
  v.list = arena.make<ListObject>(2u, 0u, parts);
  return with_type(v, Type::complex);
}

/// "1+2i": two numbers, the second of which has a sign and an i.
Value read_complex(Arena& arena, std::string_view text, std::string& problem) {
  std::size_t sign = text.size();
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool after_exponent = std::string_view("eEpP").find(text[i - 1]) != std::string_view::npos;
    if ((text[i] == '+' || text[i] == '-') && !after_exponent) sign = i;
  }
  const std::string_view second = text.substr(sign);
  const auto real = parse_float(text.substr(0, sign));
  const auto imaginary = parse_float(second.substr(0, second.size() - (second.empty() ? 0 : 1)));
  if (real && imaginary) return complex_value(arena, *real, *imaginary);
  problem = "syntax error scanning complex number";
  return Value::invalid();
}

/// 0x1e5 is an integer whose digits have an e; only a p makes a hexadecimal number real.
bool is_hex_integer(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && lower(text[1]) == 'x' && text.find_first_of("pP") == text.npos;
}

/// Go's newNumber: a constant is an int, a uint and a float64 at once as far as it fits, and the use decides. Templates
/// pass constants as int or float64 only, so one of the two is chosen here by idealConstant's rule: what looks real is
/// real. A uint beyond int64 parses but has no value that could be used: it stays undefined, and using it is the error.
Value read_plain(std::string_view text, std::string& problem) {
  std::uint64_t magnitude = 0;
  std::int64_t integer = 0;
  if (parse_signed(text, integer)) {
    const bool looks_real = !is_hex_integer(text) && text.find_first_of(".eEpP") != text.npos;
    return looks_real ? Value::of_real(static_cast<double>(integer)) : go_int(integer);
  }
  if (parse_unsigned(text, magnitude) == Read::fine) return {};
  const auto real = parse_float(text);
  if (!real) {
    problem = "illegal number syntax: " + quoted(text);
    return Value::invalid();
  }
  if (text.find_first_of(".eEpP") != text.npos) return Value::of_real(*real);
  problem = "integer overflow: " + quoted(text);
  return Value::invalid();
}

// ---- floats out

/// d.ddd × 10^exponent.
/// The exponent is that of the first digit, which is not 0 unless the number is.
struct Digits {
  std::string digits;
  int exponent = 0;
};

/// `precision` digits behind the point, or as few as read back to the same number where it is negative. The buffer
/// holds the most that is asked of to_chars: a template may ask for a million digits, and zeros are appended for the
/// rest.
Digits scientific_digits(double magnitude, int precision) {
  char buffer[1100];
  const char* const end =
      precision < 0 ? std::to_chars(buffer, buffer + sizeof buffer, magnitude, std::chars_format::scientific).ptr
                    : std::to_chars(buffer, buffer + sizeof buffer, magnitude, std::chars_format::scientific,
                                    std::min(precision, 1000))
                          .ptr;
  Digits out;
  const char* p = buffer;
  for (; p < end && *p != 'e'; ++p) {
    if (*p != '.') out.digits += *p;
  }
  if (p < end) {
    p += p[1] == '+' ? 2 : 1;
    std::from_chars(p, end, out.exponent);
  }
  // More places than 1000 are zeros: a double has at most 767 digits.
  if (precision > 1000) out.digits.append(static_cast<std::size_t>(precision - 1000), '0');
  return out;
}

/// At least two digits, as in C and Go: 1e+06.
void append_exponent(std::string& out, char letter, int exponent) {
  out += letter;
  out += exponent < 0 ? '-' : '+';
  const int magnitude = std::abs(exponent);
  if (magnitude < 10) out += '0';
  out += std::to_string(magnitude);
}

void append_scientific(std::string& out, const Digits& d, char letter) {
  out += d.digits[0];
  if (d.digits.size() > 1) out.append(".").append(d.digits, 1);
  append_exponent(out, letter, d.exponent);
}

/// Plain notation of shortest digits.
void append_plain(std::string& out, const Digits& d) {
  if (d.exponent < 0) {
    out.append("0.").append(static_cast<std::size_t>(-d.exponent - 1), '0').append(d.digits);
    return;
  }
  const auto whole = static_cast<std::size_t>(d.exponent) + 1;
  if (d.digits.size() <= whole) {
    out.append(d.digits).append(whole - d.digits.size(), '0');
  } else {
    out.append(d.digits, 0, whole).append(".").append(d.digits, whole);
  }
}

/// %g and %v: plain or scientific by the exponent, without zeros at the end. Precision counts significant digits here,
/// and not those behind the point.
void append_general(std::string& out, double magnitude, char letter, int precision) {
  constexpr int kShortestPrecision = 6;  // where %e begins, when nobody gave a precision
  if (precision == 0) precision = 1;
  Digits d = scientific_digits(magnitude, precision < 0 ? -1 : precision - 1);
  int limit = precision < 0 ? kShortestPrecision : precision;
  while (d.digits.size() > 1 && d.digits.back() == '0') d.digits.pop_back();
  // The limit moves to 21 where plain notation needs no more digits than there are: 123456789
  // as 1.23456789e+08.
  if (precision >= 0) {
    const int digits = static_cast<int>(d.digits.size());
    if (limit > digits && digits >= d.exponent + 1) limit = digits;
  }
  if (d.exponent < -4 || d.exponent >= limit) return append_scientific(out, d, letter);
  append_plain(out, d);
}

/// %f. The largest double has 309 digits before the point and the smallest 1074 behind it, which the buffer holds.
void append_fixed(std::string& out, double magnitude, int precision) {
  char buffer[1500];
  const char* const end = precision < 0
                              ? std::to_chars(buffer, buffer + sizeof buffer, magnitude, std::chars_format::fixed).ptr
                              : std::to_chars(buffer, buffer + sizeof buffer, magnitude, std::chars_format::fixed,
                                              std::min(precision, 1100))
                                    .ptr;
  out.append(buffer, static_cast<std::size_t>(end - buffer));
  if (precision > 1100) out.append(static_cast<std::size_t>(precision - 1100), '0');
}

/// %b: the mantissa as an integer and a power of two.
void append_binary(std::string& out, double magnitude) {
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  constexpr int kMantissaBits = 52;
  auto exponent = static_cast<int>(bits >> kMantissaBits & 0x7FF);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << kMantissaBits) - 1);
  if (exponent == 0) {
    exponent = 1;
  } else {
    mantissa |= std::uint64_t{1} << kMantissaBits;
  }
  exponent -= 1023 + kMantissaBits;
  out += std::to_string(mantissa);
  out += exponent >= 0 ? "p+" : "p-";
  out += std::to_string(std::abs(exponent));
}

/// %x: 0x1.8p+01.
void append_hexadecimal(std::string& out, double magnitude, bool upper, int precision) {
  std::string text = "0x0";
  int exponent = 0;
  if (magnitude != 0) {
    const double mantissa = std::frexp(magnitude, &exponent) * 2;  // in [1, 2), subnormals too
    --exponent;
    char buffer[1500];
    const char* const end =
        precision < 0
            ? std::to_chars(buffer, buffer + sizeof buffer, mantissa, std::chars_format::hex).ptr
            : std::to_chars(buffer, buffer + sizeof buffer, mantissa, std::chars_format::hex, std::min(precision, 1000))
                  .ptr;
    std::string_view digits(buffer, static_cast<std::size_t>(end - buffer));
    digits = digits.substr(0, digits.find('p'));
    text = "0x" + std::string(digits);
    if (text[2] == '2') {  // rounded up
      text[2] = '1';
      ++exponent;
    }
  } else if (precision > 0) {
    text.append(".").append(static_cast<std::size_t>(std::min(precision, 1000)), '0');
  }
  if (precision > 1000) text.append(static_cast<std::size_t>(precision - 1000), '0');
  append_exponent(text, 'p', exponent);
  if (upper) {
    for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c;
  }
  out += text;
}

}  // namespace

Value read_number(Arena& arena, const Token& token, std::string& problem) {
  const std::string_view text = token.text;
  if (token.kind == TokenKind::character_constant) {
    bool malformed = false;
    const auto c = unquote_character(text, malformed);
    if (c) return go_int(static_cast<std::int64_t>(*c));
    problem = malformed ? "malformed character constant: " + std::string(text) : "invalid syntax";
    return Value::invalid();
  }
  if (token.kind == TokenKind::complex) return read_complex(arena, text, problem);
  if (text.back() == 'i') {
    const auto imaginary = parse_float(text.substr(0, text.size() - 1));
    if (imaginary) return complex_value(arena, 0, *imaginary);
  }
  return read_plain(text, problem);
}

void append_plain_float(std::string& out, double magnitude) { append_plain(out, scientific_digits(magnitude, -1)); }

void append_float(std::string& out, double v, char format, int precision) {
  if (std::isnan(v)) {
    out += "+NaN";
    return;
  }
  out += std::signbit(v) ? '-' : '+';
  const double magnitude = std::fabs(v);
  if (std::isinf(v)) {
    out += "Inf";
    return;
  }
  switch (format) {
    case 'e':
    case 'E': return append_scientific(out, scientific_digits(magnitude, precision), format);
    case 'g': return append_general(out, magnitude, 'e', precision);
    case 'G': return append_general(out, magnitude, 'E', precision);
    case 'b': return append_binary(out, magnitude);
    case 'x':
    case 'X': return append_hexadecimal(out, magnitude, format == 'X', precision);
    default: return append_fixed(out, magnitude, precision);
  }
}

}  // namespace parlance::gotemplate
