// Scanning and evaluating literals. Begin reading at scan_number and decode_string.
#include "jinja/syntax/literals.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/ascii.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "value/number.h"

namespace parlance::jinja {
namespace {

using ascii::is_digit;

/// The size of the digit of any script at `i`; 0 if there is none. Its value goes to `value`.
/// Jinja2's patterns say \d, which in Python takes digits of all scripts.
std::size_t digit_at(std::string_view text, std::size_t i, int& value) {
  if (i >= text.size()) return 0;
  if (static_cast<unsigned char>(text[i]) < 0x80) {
    value = text[i] - '0';
    return is_digit(text[i]) ? 1 : 0;
  }
  const utf8::Decoded found = utf8::decode(text.data() + i, text.data() + text.size());
  value = unicode::decimal_value(found.code_point);
  return value >= 0 ? found.size : 0;
}

/// The end of the digits from `i` on, single underscores between them allowed; `i` if there are
/// none.
std::size_t skip_digits(std::string_view text, std::size_t i) {
  std::size_t end = i;
  int value = 0;
  for (std::size_t next = i;; next = end + 1) {
    while (const std::size_t size = digit_at(text, next, value)) end = next += size;
    if (end != next || end == i || end >= text.size() || text[end] != '_') return end;
  }
}

/// The end of an exponent that begins at `i`; `i` if none does.
std::size_t skip_exponent(std::string_view text, std::size_t i) {
  if (i >= text.size() || (text[i] != 'e' && text[i] != 'E')) return i;
  std::size_t digits = i + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
  const std::size_t end = skip_digits(text, digits);
  return end == digits ? i : end;
}

/// The size of a float at the beginning: digits with a fraction, an exponent or both. "1." is the integer 1 and a dot,
/// so that `1.foo` is an attribute.
std::size_t real_size(std::string_view text) {
  const std::size_t whole = skip_digits(text, 0);
  if (whole == 0) return 0;
  std::size_t end = whole;
  if (whole < text.size() && text[whole] == '.') {
    const std::size_t fraction = skip_digits(text, whole + 1);
    if (fraction != whole + 1) end = fraction;
  }
  end = skip_exponent(text, end);
  return end == whole ? 0 : end;
}

/// 2, 8 or 16 for the letter of a prefix such as "0x"; 0 for another letter.
int base_of(char letter) {
  switch (letter) {
    case 'b':
    case 'B': return 2;
    case 'o':
    case 'O': return 8;
    case 'x':
    case 'X': return 16;
    default: return 0;
  }
}

/// The size of the digit of `base` at `i`; only base 16 takes digits of other scripts, as Jinja2's
/// pattern does.
std::size_t based_digit(std::string_view text, std::size_t i, int base) {
  if (i >= text.size()) return 0;
  const char c = text[i];
  if (base != 16) return c >= '0' && c < '0' + base ? 1 : 0;
  int value = 0;
  if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) return 1;
  return digit_at(text, i, value);
}

std::size_t based_size(std::string_view text, int base) {
  std::size_t end = 2;
  for (;;) {
    const std::size_t digit = end + (end < text.size() && text[end] == '_' ? 1 : 0);
    const std::size_t size = based_digit(text, digit, base);
    if (size == 0) return end == 2 ? 0 : end;
    end = digit + size;
  }
}

/// "00" and "0_0" are integers, "01" is not: the pattern stops behind the zeros and the 1 is a token of its own.
std::size_t zeros_size(std::string_view text) {
  std::size_t end = 1;
  for (;;) {
    const std::size_t digit = end + (end < text.size() && text[end] == '_' ? 1 : 0);
    if (digit >= text.size() || text[digit] != '0') return end;
    end = digit + 1;
  }
}

/// "0x" without a digit is the integer 0 and the name `x`, as the alternatives of Jinja2's pattern have it.
std::size_t integer_size(std::string_view text) {
  if (text.empty() || !is_digit(text[0])) return 0;
  if (text[0] != '0') return skip_digits(text, 0);
  const int base = text.size() > 1 ? base_of(text[1]) : 0;
  const std::size_t size = base != 0 ? based_size(text, base) : 0;
  return size != 0 ? size : zeros_size(text);
}

/// Digits without underscores, those of other scripts as ASCII.
std::string plain_digits(std::string_view digits) {
  std::string plain;
  for (std::size_t i = 0; i < digits.size();) {
    int value = 0;
    if (const std::size_t size = digit_at(digits, i, value)) {
      plain.push_back(static_cast<char>('0' + value));
      i += size;
      continue;
    }
    if (digits[i] != '_') plain.push_back(digits[i]);
    ++i;
  }
  return plain;
}

std::string code_point_name(char32_t c) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string name = "U+";
  for (int shift = c > 0xFFFFF ? 20 : c > 0xFFFF ? 16 : 12; shift >= 0; shift -= 4) {
    name.push_back(kHex[c >> shift & 15]);
  }
  return name;
}

Value real_value(std::string_view digits, LiteralProblem& problem) {
  const std::size_t ascii = utf8::ascii_prefix(digits);
  if (ascii != digits.size()) {  // Jinja2's pattern lets it pass, Python's literal_eval does not
    const utf8::Decoded found = utf8::decode(digits.data() + ascii, digits.data() + digits.size());
    problem.code = ErrorCode::python_syntax;
    problem.message = "invalid character " + quoted(digits.substr(ascii, found.size)) + " (" +
                      code_point_name(found.code_point) + ")";
    return Value::invalid();
  }
  const std::optional<double> value = parse_real(plain_digits(digits));
  return value ? Value::of_real(*value) : Value::invalid();
}

/// The value of up to 18 ASCII digits, the common case; -1 for all else.
/// 18 digits always fit int64, and need no check for overflow.
std::int64_t short_integer(std::string_view digits) {
  if (digits.size() > 18) return -1;
  std::int64_t value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

constexpr std::size_t kMaxDecimalDigits = 4300;  // CPython 3.11: sys.int_info.default_max_str_digits

}  // namespace

/// A float is tried first, as in Jinja2's list of rules. Behind a dot there is none: a.1.2 takes two items.
NumberScan scan_number(std::string_view text, bool after_dot) {
  const std::size_t real = after_dot ? 0 : real_size(text);
  if (real != 0) return {real, true};
  return {integer_size(text), false};
}

Value number_value(Runtime& rt, std::string_view digits, bool is_real, LiteralProblem& problem) {
  if (is_real) return real_value(digits, problem);
  const std::int64_t small = short_integer(digits);
  if (small >= 0) return Value::of_int(small);
  std::string plain = plain_digits(digits);
  const int base = digits.size() > 1 && digits[0] == '0' ? base_of(digits[1]) : 0;
  // Bases that are powers of two convert in linear time and have no such limit, in CPython as well.
  if (base == 0 && plain.size() > kMaxDecimalDigits) {
    problem.code = ErrorCode::value;
    problem.message = "Exceeds the limit (4300 digits) for integer string conversion: value has " +
                      std::to_string(plain.size()) + " digits; use sys.set_int_max_str_digits() to increase the limit";
    return Value::invalid();
  }
  const std::string_view bare = std::string_view(plain).substr(base == 0 ? 0 : 2);
  const Value value = integer_from_digits(rt, bare, base == 0 ? 10 : base, false);
  if (value.is_invalid()) {
    problem.code = rt.failure.code;
    problem.message = rt.failure.message;
  }
  return value;
}

// ---- strings

namespace {

using ascii::hex_value;

/// Reads the inside of a literal and writes what it means; `out` has room for three times its size.
class StringDecoder {
 public:
  StringDecoder(std::string_view inside, char* out, LiteralProblem& problem)
      : p_(inside.data()), end_(p_ + inside.size()), out_(out), problem_(problem) {}

  /// One past the last byte written; null after a failure.
  /// Whole stretches up to the next backslash are copied at once.
  char* run() {
    for (;;) {
      const void* found = std::memchr(p_, '\\', static_cast<std::size_t>(end_ - p_));
      const char* backslash = found == nullptr ? end_ : static_cast<const char*>(found);
      out_ = std::copy(p_, backslash, out_);
      p_ = backslash + 1;
      if (backslash == end_) return out_;
      if (!escape()) return nullptr;
    }
  }

 private:
  bool escape() {
    const char c = *p_++;  // a literal never ends in a lone backslash
    switch (c) {
      case '\n': return true;
      case '\\':
      case '\'':
      case '"': return put(c);
      case 'a': return put('\a');
      case 'b': return put('\b');
      case 'f': return put('\f');
      case 'n': return put('\n');
      case 'r': return put('\r');
      case 't': return put('\t');
      case 'v': return put('\v');
      case 'x': return hex(2, "truncated \\xXX escape");
      case 'u': return hex(4, "truncated \\uXXXX escape");
      case 'U': return hex(8, "truncated \\UXXXXXXXX escape");
      case 'N': return name();
      default: break;
    }
    --p_;
    if (c >= '0' && c <= '7') return octal();
    *out_++ = '\\';
    if (static_cast<unsigned char>(c) >= 0x80) return spell_out();
    return put(*p_++);
  }

  bool put(char c) {
    *out_++ = c;
    return true;
  }

  bool put_code_point(char32_t c) {
    out_ += utf8::encode(c, out_);
    return true;
  }

  /// Up to three digits, so at most U+01FF: Python takes \777 as well.
  bool octal() {
    char32_t c = 0;
    for (int i = 0; i < 3 && p_ < end_ && *p_ >= '0' && *p_ <= '7'; ++i) {
      c = c * 8 + static_cast<char32_t>(*p_++ - '0');
    }
    return put_code_point(c);
  }

  bool hex(int digits, const char* truncated) {
    char32_t c = 0;
    for (int i = 0; i < digits; ++i) {
      const int value = p_ < end_ ? hex_value(*p_) : -1;
      if (value < 0) return fail(truncated);
      c = c << 4 | static_cast<char32_t>(value);
      ++p_;
    }
    return c <= utf8::kMaxCodePoint ? put_code_point(c) : fail("illegal Unicode character");
  }

  /// Names of characters are not known here, but what Python takes for none has Python's own message.
  bool name() {
    const char* const close = std::find(p_, end_, '}');
    if (p_ == end_ || *p_ != '{' || close == end_ || close == p_ + 1) {
      return fail("malformed \\N character escape");
    }
    return fail("unknown Unicode character name (none is known here: write the character itself, or \\uXXXX)");
  }

  /// Jinja2 spells characters outside ASCII as escapes before it reads escapes, so that a backslash
  /// in front of one takes the spelling's own backslash, and the rest of the spelling stays.
  bool spell_out() {
    const utf8::Decoded found = utf8::decode(p_, end_);
    p_ += found.size;
    const char32_t c = found.code_point;
    const int digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
    *out_++ = digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
    for (int i = digits - 1; i >= 0; --i) *out_++ = "0123456789abcdef"[c >> (4 * i) & 15];
    return true;
  }

  bool fail(const char* message) {
    problem_.message = message;
    return false;
  }

  const char* p_;
  const char* end_;
  char* out_;
  LiteralProblem& problem_;
};

}  // namespace

Value decode_string(Runtime& rt, std::string_view inside, LiteralProblem& problem) {
  const std::size_t room = inside.size() * 3;  // a backslash and a byte that is no UTF-8 become "ufffd", see spell_out
  char* begin = rt.arena.allocate_text(room);
  const char* end = StringDecoder(inside, begin, problem).run();
  const std::size_t size = end == nullptr ? 0 : static_cast<std::size_t>(end - begin);
  // Literals with escapes are rare and short, but their room would add up in a template of many.
  rt.arena.shrink_text(room - size);
  if (end == nullptr) return Value::invalid();
  rt.arena.log_derived(begin, size, TextSource{inside.data(), 0});
  return Value::view({begin, size});
}

// ---- repr

/// repr() of a str: double quotes only if there are single ones and no double ones.
std::string quoted(std::string_view text) {
  const bool has_single = text.find('\'') != text.npos;
  const char quote = has_single && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const utf8::Decoded found = utf8::decode(p, end);
    const char32_t c = found.code_point;
    if (c == static_cast<char32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (unicode::is_printable(c)) {
      out.append(p, found.size);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else {
      const int digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
      out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
      for (int i = digits - 1; i >= 0; --i) out += "0123456789abcdef"[c >> (4 * i) & 15];
    }
    p += found.size;
  }
  return out + quote;
}

}  // namespace parlance::jinja
