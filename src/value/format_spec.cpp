// The format mini-language: format(value, spec) of str, int, bool and float.
//
// Rules: CPython 3.11 Python/formatter_unicode.c. A spec is read into Spec once, then a string is
// cut and padded (keeping its pieces), or a number is laid out as sign, prefix, digits, rest. Leans
// on value/number.h for the digits. Begin reading at format_value.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/unicode.h"
#include "base/utf8.h"
#include "value/format.h"
#include "value/format_parts.h"
#include "value/markup.h"
#include "value/number.h"
#include "value/string.h"
#include "value/text_of.h"

namespace parlance {
namespace {

constexpr std::int64_t kUnset = -1;

/// [[fill]align][sign][z][#][0][width][grouping][.precision][type]
struct Spec {
  std::string fill = " ";
  bool fill_given = false;
  char align = '<';
  bool align_given = false;
  char sign = 0;
  bool no_negative_zero = false;
  bool alternate = false;
  std::int64_t width = kUnset;
  char separator = 0;
  std::int64_t precision = kUnset;
  char32_t type = 0;  ///< what the kind of value has by default: 's', 'd', 0 for floats
};

Value fail_value(Runtime& rt, std::string message) { return rt.fail(ErrorCode::value, std::move(message)); }

bool is_align(char c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

/// Reads a spec from left to right; each step takes what it recognises.
class SpecReader {
 public:
  SpecReader(Runtime& rt, std::string_view text, std::string_view type_name)
      : rt_(rt), text_(text), type_name_(type_name) {}

  bool read(Spec& spec) {
    read_fill(spec);
    read_flags(spec);
    return read_digits(spec.width) && read_separator(spec) && read_precision(spec) && read_type(spec) &&
           check_separator(spec);
  }

 private:
  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }
  bool fail(std::string message) {
    fail_value(rt_, std::move(message));
    return false;
  }

  /// Any character may fill, an align sign as well: the second character decides. In "<<5" the first one fills.
  void read_fill(Spec& spec) {
    if (text_.empty()) return;
    const std::size_t size = utf8::decode(text_.data(), text_.data() + text_.size()).size;
    if (size < text_.size() && is_align(text_[size])) {
      spec.fill = text_.substr(0, size);
      spec.fill_given = true;
      at_ = size;
    }
    if (at_ < text_.size() && is_align(text_[at_])) {
      spec.align = text_[at_++];
      spec.align_given = true;
    }
  }

  /// A '0' before the width fills with zeros, and for numbers (which align by '>') puts them behind the sign. If a fill
  /// was given, the 0 belongs to the width.
  void read_flags(Spec& spec) {
    if (at('+') || at('-') || at(' ')) spec.sign = text_[at_++];
    spec.no_negative_zero = take('z');
    spec.alternate = take('#');
    if (spec.fill_given || !at('0')) return;
    spec.fill = "0";
    if (!spec.align_given && spec.align == '>') spec.align = '=';
    ++at_;
  }

  /// A run of decimal digits of any script, as CPython takes them; leaves `out` alone if there is
  /// none.
  bool read_digits(std::int64_t& out) {
    constexpr std::int64_t kMost = INT64_MAX;
    std::int64_t number = 0;
    bool any = false;
    while (at_ < text_.size()) {
      const auto [c, size] = utf8::decode(text_.data() + at_, text_.data() + text_.size());
      const int digit = unicode::decimal_value(c);
      if (digit < 0) break;
      if (number > (kMost - digit) / 10) return fail("Too many decimal digits in format string");
      number = number * 10 + digit;
      at_ += size;
      any = true;
    }
    if (any) out = number;
    return true;
  }

  bool read_separator(Spec& spec) {
    if (take(',')) spec.separator = ',';
    if (at('_')) {
      if (spec.separator != 0) return fail("Cannot specify both ',' and '_'.");
      spec.separator = text_[at_++];
    }
    if (at(',') && spec.separator == '_') return fail("Cannot specify both ',' and '_'.");
    return true;
  }

  /// "." without digits is an error of its own in CPython, hence the look at what was read.
  bool read_precision(Spec& spec) {
    if (!take('.')) return true;
    if (!read_digits(spec.precision)) return false;
    return spec.precision != kUnset || fail("Format specifier missing precision");
  }

  bool read_type(Spec& spec) {
    if (at_ == text_.size()) return true;
    const auto [c, size] = utf8::decode(text_.data() + at_, text_.data() + text_.size());
    if (at_ + size != text_.size()) {
      return fail("Invalid format specifier '" + std::string(text_) + "' for object of type '" +
                  std::string(type_name_) + "'");
    }
    spec.type = c;
    return true;
  }

  /// CPython checks this while it parses, before it looks at the value: so it comes before an unknown type.
  bool check_separator(const Spec& spec) {
    if (spec.separator == 0) return true;
    const auto among = [&](std::string_view types) {
      return spec.type < 0x80 && types.find(static_cast<char>(spec.type)) != types.npos;
    };
    if (spec.type == 0 || among("defgEG%F") || (spec.separator == '_' && among("boxX"))) return true;
    std::string shown = "'" + std::string(1, spec.separator) + "' with ";
    if (spec.type > 32 && spec.type < 128) {
      shown += "'" + std::string(1, static_cast<char>(spec.type)) + "'.";
    } else {
      shown += "'\\x" + hex_digits(spec.type) + "'.";
    }
    return fail("Cannot specify " + shown);
  }

  Runtime& rt_;
  std::string_view text_;
  std::string_view type_name_;
  std::size_t at_ = 0;
};

Value fail_unknown_code(Runtime& rt, const Spec& spec, std::string_view type) {
  std::string code = "'";
  if (spec.type > 32 && spec.type < 128) {
    code += static_cast<char>(spec.type);
  } else {
    code += "\\x" + hex_digits(spec.type);
  }
  return fail_value(rt, "Unknown format code " + code + "' for object of type '" + std::string(type) + "'");
}

/// How many fill characters go to the left of `size` characters, and how many to the right.
struct Padding {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
};

/// '^' leans left: the odd fill character goes to the right. str.center() has another rule.
Padding padding_for(const Spec& spec, std::uint64_t size) {
  const std::uint64_t width = spec.width < 0 ? 0 : static_cast<std::uint64_t>(spec.width);
  if (width <= size) return {};
  const std::uint64_t total = width - size;
  switch (spec.align) {
    case '<': return {0, total};
    case '^': return {total / 2, total - total / 2};
    default: return {total, 0};
  }
}

Value format_text(Runtime& rt, Value value, const Spec& spec) {
  if (spec.sign != 0) {
    return fail_value(rt, spec.sign == ' ' ? "Space not allowed in string format specifier"
                                           : "Sign not allowed in string format specifier");
  }
  if (spec.no_negative_zero) {
    return fail_value(rt, "Negative zero coercion (z) not allowed in string format specifier");
  }
  if (spec.alternate) {
    return fail_value(rt, "Alternate form (#) not allowed in string format specifier");
  }
  if (spec.align == '=') {
    return fail_value(rt, "'=' alignment not allowed in string format specifier");
  }
  // format() of a Markup gives a plain string: markupsafe has __html_format__ for its own.
  value.flags &= static_cast<std::uint8_t>(~Value::kMarkup);
  if (spec.precision >= 0) value = first_characters(rt, value, spec.precision);
  const Padding padding = padding_for(spec, length(rt, value));
  if (padding.left + padding.right == 0) return value;
  StringBuilder out(rt);
  if (!append_repeated(rt, out, spec.fill, padding.left)) return Value::invalid();
  out.append(value);
  if (!append_repeated(rt, out, spec.fill, padding.right)) return Value::invalid();
  return out.finish();
}

/// A number as text, cut where the layout needs it.
/// Views of one string that the caller holds.
struct NumberParts {
  bool negative = false;
  std::string_view prefix{};
  std::string_view digits{};    ///< what grouping applies to
  std::string_view rest{};      ///< point, decimals, exponent, percent sign; or "inf", or one character
  std::size_t rest_length = 0;  ///< in code points
};

std::string_view shown_sign(const Spec& spec, bool negative) {
  if (negative) return "-";
  if (spec.sign == '+') return "+";
  return spec.sign == ' ' ? " " : "";
}

/// `digits` with a separator between groups, filled up with zeros until it is `width` long.
/// Works from the right, as groups do. Zeros that fill up are grouped as well: format(1, '07,') is '000,001'. A group
/// is never left empty, so the result may be one longer than asked for: format(1, '04,') is '0,001'.
std::string grouped(const NumberParts& number, const Spec& spec, std::int64_t width) {
  if (number.digits.empty()) return {};
  const bool by_four = spec.separator == '_' && spec.type < 0x80 &&
                       std::string_view("boxX").find(static_cast<char>(spec.type)) != std::string_view::npos;
  const std::int64_t group = by_four ? 4 : 3;
  std::int64_t left = static_cast<std::int64_t>(number.digits.size());
  std::string reversed;
  while (true) {
    const std::int64_t size = std::min(group, std::max<std::int64_t>(std::max(left, width), 1));
    for (std::int64_t i = 0; i < size; ++i) {
      reversed += left > 0 ? number.digits[static_cast<std::size_t>(--left)] : '0';
    }
    width -= size;
    if (left <= 0 && width <= 0) break;
    reversed += spec.separator;
    --width;
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

/// Sign, prefix, digits and rest with padding and grouping, as text derived from `value`.
Value lay_out(Runtime& rt, const NumberParts& number, const Spec& spec, Value value) {
  const std::string_view sign = shown_sign(spec, number.negative);
  const std::uint64_t others = sign.size() + number.prefix.size() + number.rest_length;
  const std::uint64_t width = spec.width < 0 ? 0 : static_cast<std::uint64_t>(spec.width);
  // The width by itself first: four times one of 2^62 is nothing.
  if (width > 0 && !(rt.reserve(width) && rt.reserve(width * 4))) return Value::invalid();
  const bool zeros = spec.align == '=' && spec.fill == "0";
  std::string digits;
  if (spec.separator != 0) {
    const std::uint64_t wanted = zeros && width > others ? width - others : 0;
    digits = grouped(number, spec, static_cast<std::int64_t>(wanted));
  } else {
    digits = number.digits;
  }
  const Padding padding = padding_for(spec, others + digits.size());
  std::string text;
  const auto pad = [&](std::uint64_t n) {
    for (; n > 0; --n) text += spec.fill;
  };
  if (spec.align != '=') pad(padding.left);
  text.append(sign).append(number.prefix);
  if (spec.align == '=') pad(padding.left);
  text.append(digits).append(number.rest);
  pad(padding.right);
  return make_derived(rt, text, value);
}

/// The character is the `rest` of a number without digits, so padding and '0' treat it as CPython does.
Value format_character(Runtime& rt, Value value, const Spec& spec) {
  if (spec.sign != 0) {
    return fail_value(rt, "Sign not allowed with integer format specifier 'c'");
  }
  if (spec.alternate) {
    return fail_value(rt, "Alternate form (#) not allowed with integer format specifier 'c'");
  }
  if ((value.flags & Value::kBig) != 0) {
    return rt.fail(ErrorCode::overflow, "Python int too large to convert to C long");
  }
  if (value.integer < 0 || value.integer > 0x10FFFF) {
    return rt.fail(ErrorCode::overflow, "%c arg not in range(0x110000)");
  }
  std::string character;
  utf8::append(character, static_cast<char32_t>(value.integer));
  return lay_out(rt, {.rest = character, .rest_length = 1}, spec, value);
}

Value format_integer(Runtime& rt, Value value, const Spec& spec) {
  if (spec.precision != kUnset) {
    return fail_value(rt, "Precision not allowed in integer format specifier");
  }
  if (spec.no_negative_zero) {
    return fail_value(rt, "Negative zero coercion (z) not allowed in integer format specifier");
  }
  if (spec.type == 'c') return format_character(rt, value, spec);
  const int base = integer_base(spec.type);
  std::string digits;
  if (!append_integer(rt, digits, value, base)) return Value::invalid();
  NumberParts number{.negative = digits[0] == '-'};
  if (spec.type == 'X') uppercase(digits);
  number.digits = std::string_view(digits).substr(number.negative ? 1 : 0);
  if (spec.alternate) number.prefix = integer_prefix(spec.type);
  return lay_out(rt, number, spec, value);
}

/// Whether every digit that is shown is zero: what `z` takes the sign from.
/// -0.001 in two places shows as -0.00, and `z` drops that sign: rounding decides, not the value.
bool shows_zero(std::string_view digits) {
  for (char c : digits) {
    if (c == 'e' || c == 'E') break;
    if (c != '0' && c != '.' && c != '-' && c != '%') return false;
  }
  return true;
}

Value format_real(Runtime& rt, Value value, double real, const Spec& spec) {
  constexpr std::int64_t kMostPrecision = 2147483647;
  if (spec.precision > kMostPrecision) return fail_value(rt, "precision too big");
  const char type = spec.type == 'n' ? 'g' : static_cast<char>(spec.type);
  std::int64_t precision = spec.precision;
  if (precision < 0 && type != 0) precision = 6;
  if (precision > 0 && !rt.reserve(static_cast<std::uint64_t>(precision) + 400)) return Value::invalid();
  std::string digits;
  // CPython multiplies before it rounds, so 0.285 in '.0%' is decided by the product.
  const double shown = type == '%' ? real * 100 : real;
  append_real(digits, shown, type == '%' ? 'f' : type, static_cast<int>(precision), spec.alternate);
  if (type == '%') digits += '%';
  NumberParts number{.negative = digits[0] == '-'};
  if (number.negative && spec.no_negative_zero && shows_zero(digits)) {
    number.negative = false;
    digits.erase(0, 1);
  }
  const std::string_view body = std::string_view(digits).substr(number.negative ? 1 : 0);
  const std::size_t leading = std::min(body.find_first_not_of("0123456789"), body.size());
  number.digits = body.substr(0, leading);
  number.rest = body.substr(leading);
  number.rest_length = number.rest.size();
  return lay_out(rt, number, spec, value);
}

bool is_code(char32_t type, std::string_view codes) {
  return type < 0x80 && codes.find(static_cast<char>(type)) != codes.npos;
}

/// An int takes the codes of a float too, and is converted; a float takes none of an int's but 'n'.
Value format_number(Runtime& rt, Value value, const Spec& spec) {
  constexpr std::string_view kIntegerCodes = "bcdoxXn";
  constexpr std::string_view kRealCodes = "eEfFgG%";
  const bool integral = value.kind != Kind::real;
  if (integral && is_code(spec.type, kIntegerCodes)) {
    return format_integer(rt, value, spec);
  }
  if (!is_code(spec.type, kRealCodes) && (integral || (spec.type != 0 && spec.type != 'n'))) {
    return fail_unknown_code(rt, spec, type_name(value));
  }
  const auto real = to_real(rt, value);
  return real ? format_real(rt, value, *real, spec) : Value::invalid();
}

}  // namespace

Value format_value(Runtime& rt, Value value, std::string_view spec_text) {
  // format(x, '') is str(x) for every value, including those that take no specification.
  if (spec_text.empty()) {
    const Value plain = to_text(rt, value);
    return plain.is_invalid() ? plain : with_markup(plain, false);
  }
  const std::string_view type = type_name(value);
  if (!value.is_string() && !is_number(value)) {
    return rt.fail(ErrorCode::type, "unsupported format string passed to " + std::string(type) + ".__format__", value);
  }
  Spec spec;
  if (is_number(value)) spec.align = '>';
  if (value.kind != Kind::real) spec.type = value.is_string() ? 's' : 'd';
  if (!SpecReader(rt, spec_text, type).read(spec)) return Value::invalid();
  if (is_number(value)) return format_number(rt, value, spec);
  if (spec.type != 's') return fail_unknown_code(rt, spec, type);
  return format_text(rt, value, spec);
}

}  // namespace parlance
