// fmt's layout of scalars: padding, signs, bases, quotes. Source: Go 1.26 fmt/format.go.
//
// Begin reading at Printer::padded and Printer::whole.
#include <algorithm>
#include <bit>
#include <cmath>

#include "gotemplate/number.h"
#include "gotemplate/print.h"
#include "gotemplate/quote.h"

namespace parlance::gotemplate {

/// Widths count code points. Zeros only pad on the left.
void Printer::padded(std::string_view text) {
  if (!format_.has_width || format_.width == 0) return sink_.put(text);
  const std::size_t size = count_code_points(text);
  const auto width = static_cast<std::size_t>(format_.width);
  const std::size_t missing = width > size ? width - size : 0;
  if (!format_.minus) sink_.pad(format_.zero ? '0' : ' ', missing);
  sink_.put(text);
  if (format_.minus) sink_.pad(' ', missing);
}

std::string_view Printer::first_code_points_of(std::string_view text) const {
  if (!format_.has_precision) return text;
  return first_code_points(text, static_cast<std::size_t>(format_.precision));
}

void Printer::boolean(Value v, char32_t verb) {
  if (verb != 't' && verb != 'v') return bad_verb(v, verb);
  sink_.from(v);
  padded(v.integer != 0 ? "true" : "false");
}

void Printer::integer(Value v, char32_t verb) {
  const bool is_signed = type_of(v) == Type::integer;
  const bool negative = is_signed && v.integer < 0;
  const auto bits = static_cast<std::uint64_t>(v.integer);
  const std::uint64_t magnitude = negative ? 0 - bits : bits;
  sink_.from(v);
  switch (verb) {
    case 'v':
      if (format_.sharp_v && !is_signed) return hexadecimal(bits, true);
      return whole(magnitude, negative, 10, verb, false);
    case 'd': return whole(magnitude, negative, 10, verb, false);
    case 'b': return whole(magnitude, negative, 2, verb, false);
    case 'o':
    case 'O': return whole(magnitude, negative, 8, verb, false);
    case 'x':
    case 'X': return whole(magnitude, negative, 16, verb, verb == 'X');
    case 'U': return unicode(bits);
    case 'c':
    case 'q': break;
    default: return bad_verb(v, verb);
  }
  const char32_t c = bits > utf8::kMaxCodePoint || utf8::is_surrogate(static_cast<char32_t>(bits))
                         ? utf8::kReplacement
                         : static_cast<char32_t>(bits);
  std::string text;
  if (verb == 'c') {
    utf8::append(text, c);
  } else {
    append_quoted_character(text, c, format_.plus);
  }
  padded(text);
}

/// fmtInteger: digits, zeros up to the precision, prefix, sign, then padding with blanks.
/// Zeros by the `0` flag are digits, so they stand behind the sign and the prefix. A precision switches that flag off.
/// The digits are reserved before they are made: width and precision may be 10^7, from the template or its arguments.
void Printer::whole(std::uint64_t magnitude, bool negative, unsigned base, char32_t verb, bool upper) {
  std::size_t digits = 0;
  if (format_.has_precision) {
    digits = static_cast<std::size_t>(format_.precision);
    if (digits == 0 && magnitude == 0) {
      sink_.pad(' ', static_cast<std::size_t>(format_.width));
      return;
    }
  } else if (format_.zero && !format_.minus && format_.has_width) {
    digits = static_cast<std::size_t>(format_.width);
    if ((negative || format_.plus || format_.space) && digits > 0) --digits;
  }
  const std::string_view alphabet = upper ? "0123456789ABCDEFX" : "0123456789abcdefx";
  if (!rt_.reserve(digits)) return;
  std::string text;  // backwards
  do {
    text += alphabet[magnitude % base];
    magnitude /= base;
  } while (magnitude != 0);
  if (text.size() < digits) text.append(digits - text.size(), '0');
  if (format_.sharp) {
    if (base == 2) text += "b0";
    if (base == 8 && text.back() != '0') text += '0';
    if (base == 16) text.append({alphabet[16], '0'});
  }
  if (verb == 'O') text += "o0";
  if (negative) {
    text += '-';
  } else if (format_.plus) {
    text += '+';
  } else if (format_.space) {
    text += ' ';
  }
  std::reverse(text.begin(), text.end());
  const bool zero = format_.zero;
  format_.zero = false;
  padded(text);
  format_.zero = zero;
}

/// fmt0x64.
void Printer::hexadecimal(std::uint64_t v, bool prefix) {
  const bool sharp = format_.sharp;
  format_.sharp = prefix;
  whole(v, false, 16, 'v', false);
  format_.sharp = sharp;
}

/// %U: U+0041, at least four digits, and with `#` the character behind it.
void Printer::unicode(std::uint64_t v) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::size_t digits = 4;
  if (format_.has_precision && format_.precision > 4) digits = static_cast<std::size_t>(format_.precision);
  if (!rt_.reserve(digits)) return;
  std::string text;
  for (std::uint64_t rest = v; rest != 0; rest >>= 4) text += kDigits[rest & 0xF];
  if (text.size() < digits) text.append(digits - text.size(), '0');
  text += "+U";
  std::reverse(text.begin(), text.end());
  if (format_.sharp && v <= utf8::kMaxCodePoint && is_print(static_cast<char32_t>(v))) {
    text += " '";
    utf8::append(text, static_cast<char32_t>(v));
    text += '\'';
  }
  const bool zero = format_.zero;
  format_.zero = false;
  padded(text);
  format_.zero = zero;
}

void Printer::real(double v, char32_t verb, Value source) {
  sink_.from(source);
  switch (verb) {
    case 'v': return real_in(v, 'g', -1, verb);
    case 'b':
    case 'g':
    case 'G':
    case 'x':
    case 'X': return real_in(v, static_cast<char>(verb), -1, verb);
    case 'e':
    case 'E': return real_in(v, static_cast<char>(verb), 6, verb);
    case 'f':
    case 'F': return real_in(v, 'f', 6, 'f');
    default: return bad_verb(source, verb);
  }
}

namespace {

/// '#': a decimal point always, and trailing zeros kept.
void keep_zeros(std::string& number, char32_t verb, int precision) {
  int digits = 0;
  if (verb == 'v' || verb == 'g' || verb == 'G' || verb == 'x') digits = precision == -1 ? 6 : precision;
  const bool is_hex = verb == 'x' || verb == 'X';
  std::string tail;
  bool point = false;
  bool saw_nonzero = false;
  for (std::size_t i = 1; i < number.size(); ++i) {
    const char c = number[i];
    if (c == '.') {
      point = true;
    } else if (c == 'p' || c == 'P' || (!is_hex && (c == 'e' || c == 'E'))) {
      tail = number.substr(i);
      number.resize(i);
    } else {
      saw_nonzero = saw_nonzero || c != '0';
      if (saw_nonzero) --digits;
    }
  }
  if (!point) {
    if (number.size() == 2 && number[1] == '0') --digits;
    number += '.';
  }
  if (digits > 0) number.append(static_cast<std::size_t>(digits), '0');
  number += tail;
}

}  // namespace

void Printer::real_in(double v, char format, int precision, char32_t verb) {
  if (format_.has_precision) precision = format_.precision;
  if (!rt_.reserve(static_cast<std::uint64_t>(std::max(precision, 0)) + 2048)) return;
  std::string number;
  append_float(number, v, format, precision);
  if (format_.space && number[0] == '+' && !format_.plus) number[0] = ' ';
  if (number[1] == 'I' || number[1] == 'N') {
    const bool zero = format_.zero;
    format_.zero = false;
    if (number[1] == 'N' && !format_.space && !format_.plus) number.erase(0, 1);
    padded(number);
    format_.zero = zero;
    return;
  }
  if (format_.sharp && verb != 'b') keep_zeros(number, verb, precision);
  if (!format_.plus && number[0] == '+') return padded(std::string_view(number).substr(1));
  const auto width = static_cast<std::size_t>(format_.width);
  if (format_.zero && !format_.minus && format_.has_width && width > number.size()) {
    sink_.put(number[0]);
    sink_.pad('0', width - number.size());
    return sink_.put(std::string_view(number).substr(1));
  }
  padded(number);
}

void Printer::complex(Value v, char32_t verb) {
  constexpr std::u32string_view kVerbs = U"vbgGxXfFeE";
  if (kVerbs.find(verb) == kVerbs.npos) return bad_verb(v, verb);
  const bool plus = format_.plus;
  sink_.put('(');
  real(v.list->items[0].real, verb, v.list->items[0]);
  format_.plus = true;
  real(v.list->items[1].real, verb, v.list->items[1]);
  sink_.put("i)");
  format_.plus = plus;
}

void Printer::string(Value v, char32_t verb) {
  switch (verb) {
    case 'v':
      if (format_.sharp_v) break;
      return text(v);
    case 's': return text(v);
    case 'q': break;
    case 'x':
    case 'X': {
      const std::string_view bytes = sink_.flat(v);
      sink_.from(v);
      return hex_text(bytes, verb == 'X');
    }
    default: return bad_verb(v, verb);
  }
  const std::string_view bytes = sink_.flat(v);
  sink_.from(v);
  quoted_text(bytes);
}

/// fmtS, sharing the string's bytes.
void Printer::text(Value v) {
  if (!format_.has_precision && (!format_.has_width || format_.width == 0)) return sink_.share(v);
  const std::string_view bytes = sink_.flat(v);
  const std::string_view kept = first_code_points_of(bytes);
  if (!rt_.charge_bytes(kept.size())) return;
  const std::size_t size = count_code_points(kept);
  const auto width = static_cast<std::size_t>(format_.has_width ? format_.width : 0);
  const std::size_t missing = width > size ? width - size : 0;
  sink_.from_nothing();
  if (!format_.minus) sink_.pad(format_.zero ? '0' : ' ', missing);
  sink_.share(substring(rt_, v, 0, kept.size()));
  if (format_.minus) sink_.pad(' ', missing);
}

void Printer::quoted_text(std::string_view text) {
  const std::string_view kept = first_code_points_of(text);
  if (!rt_.reserve(kept.size() * 10)) return;
  if (!rt_.charge_bytes(kept.size())) return;
  if (format_.sharp && can_backquote(kept)) return padded("`" + std::string(kept) + "`");
  std::string out;
  append_quoted(out, kept, format_.plus);
  padded(out);
}

/// fmtSbx.
void Printer::hex_text(std::string_view bytes, bool upper) {
  const char* const digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  const std::string_view prefix = upper ? "0X" : "0x";
  if (format_.has_precision)
    bytes = bytes.substr(0, std::min(bytes.size(), static_cast<std::size_t>(format_.precision)));
  const auto wanted = static_cast<std::size_t>(format_.has_width ? format_.width : 0);
  if (bytes.empty()) return sink_.pad(format_.zero && !format_.minus ? '0' : ' ', wanted);
  std::size_t width = 2 * bytes.size();
  if (format_.space) {
    if (format_.sharp) width *= 2;
    width += bytes.size() - 1;
  } else if (format_.sharp) {
    width += 2;
  }
  const std::size_t missing = wanted > width ? wanted - width : 0;
  if (!format_.minus) sink_.pad(format_.zero ? '0' : ' ', missing);
  if (format_.sharp) sink_.put(prefix);
  for (std::size_t i = 0; i < bytes.size() && !rt_.failed(); ++i) {
    if (format_.space && i > 0) {
      sink_.put(' ');
      if (format_.sharp) sink_.put(prefix);
    }
    const auto byte = static_cast<unsigned char>(bytes[i]);
    sink_.put(digits[byte >> 4]);
    sink_.put(digits[byte & 0xF]);
  }
  if (format_.minus) sink_.pad(' ', missing);
}

}  // namespace parlance::gotemplate
