// Go's quoting and unquoting of strings. Begin reading at append_escaped and Unquoter.
#include "gotemplate/quote.h"

#include "base/ascii.h"
#include "base/unicode.h"

namespace parlance::gotemplate {
namespace {

void append_hex(std::string& out, std::uint32_t value, int digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kDigits[value >> shift & 0xF];
}

/// The letter after the backslash for a control character that has one, else 0.
char short_escape(char32_t c) {
  constexpr std::string_view kLetters = "abtnvfr";
  return c >= '\a' && c <= '\r' ? kLetters[c - '\a'] : '\0';
}

void append_escaped(std::string& out, char32_t c, char quote, bool ascii_only) {
  if (c == static_cast<char32_t>(quote) || c == '\\') {
    out += '\\';
    out += static_cast<char>(c);
  } else if (ascii_only ? c < 0x80 && is_print(c) : is_print(c)) {
    utf8::append(out, c);
  } else if (const char letter = short_escape(c); letter != 0) {
    out += '\\';
    out += letter;
  } else if (c < ' ' || c == 0x7F) {
    out += "\\x";
    append_hex(out, c, 2);
  } else if (c < 0x10000 || c > utf8::kMaxCodePoint) {
    out += "\\u";
    append_hex(out, c > utf8::kMaxCodePoint || utf8::is_surrogate(c) ? utf8::kReplacement : c, 4);
  } else {
    out += "\\U";
    append_hex(out, c, 8);
  }
}

using ascii::hex_value;

/// Reads one character after another of what stands between quotes.
/// Within double quotes \' is refused and within single quotes \": Go's rule, which C does not have.
class Unquoter {
 public:
  Unquoter(std::string_view text, char quote) : rest(text), quote_(quote) {}

  /// The next character; false for what Go refuses. `is_byte`: it stands for one byte of any value.
  bool next(char32_t& c, bool& is_byte);

  std::string_view rest;

 private:
  bool escape(char32_t& c, bool& is_byte);
  bool digits(int count, int base, char32_t& c);

  char quote_;
};

/// Exactly so many: "\x4" is an error. Eight hexadecimal digits fit char32_t, so there is no overflow to check.
bool Unquoter::digits(int count, int base, char32_t& c) {
  if (rest.size() < static_cast<std::size_t>(count)) return false;
  for (int i = 0; i < count; ++i) {
    const int digit = hex_value(rest[static_cast<std::size_t>(i)]);
    if (digit < 0 || digit >= base) return false;
    c = c * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
  }
  rest.remove_prefix(static_cast<std::size_t>(count));
  return true;
}

bool Unquoter::escape(char32_t& c, bool& is_byte) {
  if (rest.empty()) return false;
  const char letter = rest.front();
  rest.remove_prefix(1);
  is_byte = true;
  c = 0;
  constexpr std::string_view kLetters = "abtnvfr";
  if (const std::size_t at = kLetters.find(letter); at != kLetters.npos) {
    c = static_cast<char32_t>('\a' + at);
    return true;
  }
  switch (letter) {
    case 'x': return digits(2, 16, c);
    case 'u':
    case 'U':
      is_byte = false;
      return digits(letter == 'u' ? 4 : 8, 16, c) && c <= utf8::kMaxCodePoint && !utf8::is_surrogate(c);
    case '\\': c = '\\'; return true;
    case '\'':
    case '"': c = static_cast<unsigned char>(letter); return letter == quote_;
    default: break;
  }
  if (letter < '0' || letter > '7') return false;
  c = static_cast<char32_t>(letter - '0');
  return digits(2, 8, c) && c <= 0xFF;
}

bool Unquoter::next(char32_t& c, bool& is_byte) {
  if (rest.empty() || rest.front() == quote_ || rest.front() == '\n') return false;
  if (rest.front() == '\\') {
    rest.remove_prefix(1);
    return escape(c, is_byte);
  }
  const utf8::Decoded decoded = decode_go(rest.data(), rest.data() + rest.size());
  rest.remove_prefix(decoded.size);
  c = decoded.code_point;
  is_byte = false;
  return true;
}

}  // namespace

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end; p += decode_go(p, end).size) ++count;
  return count;
}

std::string_view first_code_points(std::string_view text, std::size_t n) {
  const char* const end = text.data() + text.size();
  const char* p = text.data();
  for (; p < end && n > 0; --n) p += decode_go(p, end).size;
  return text.substr(0, static_cast<std::size_t>(p - text.data()));
}

bool is_print(char32_t c) { return unicode::is_printable(c); }

void append_quoted(std::string& out, std::string_view text, bool ascii_only) {
  out += '"';
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const utf8::Decoded next = decode_go(p, end);
    if (next.size == 1 && next.code_point == utf8::kReplacement) {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(*p), 2);
    } else {
      append_escaped(out, next.code_point, '"', ascii_only);
    }
    p += next.size;
  }
  out += '"';
}

void append_quoted_character(std::string& out, char32_t c, bool ascii_only) {
  out += '\'';
  append_escaped(out, c > utf8::kMaxCodePoint || utf8::is_surrogate(c) ? utf8::kReplacement : c, '\'', ascii_only);
  out += '\'';
}

/// strconv.CanBackquote: what one line of Go source can hold as a raw string. A byte order mark and malformed UTF-8
/// would not survive in the source.
bool can_backquote(std::string_view text) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const utf8::Decoded next = decode_go(p, end);
    p += next.size;
    if (next.code_point == 0xFEFF) return false;
    if (next.size > 1) continue;
    if (next.code_point == utf8::kReplacement || next.code_point == '`' || next.code_point == 0x7F) return false;
    if (next.code_point < ' ' && next.code_point != '\t') return false;
  }
  return true;
}

/// As %#U prints it, which the lexer's complaints contain.
std::string code_point_name(char32_t c) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string name = "U+";
  int shift = 12;
  while (shift < 28 && (c >> (shift + 4)) != 0) shift += 4;
  for (; shift >= 0; shift -= 4) name += kDigits[c >> shift & 0xF];
  if (!is_print(c)) return name;
  name += " '";
  utf8::append(name, c);
  return name += '\'';
}

/// The text of a string constant, raw or not. \r is dropped from raw strings as Go's specification says, so that a
/// template saved with Windows' newlines means the same.
std::optional<std::string> unquote(std::string_view token) {
  const std::string_view inside = token.substr(1, token.size() - 2);
  std::string out;
  if (token.front() == '`') {
    for (const char c : inside) {
      if (c != '\r') out += c;
    }
    return out;
  }
  Unquoter reader(inside, token.front());
  while (!reader.rest.empty()) {
    char32_t c = 0;
    bool is_byte = false;
    if (!reader.next(c, is_byte)) return std::nullopt;
    if (is_byte) {
      out += static_cast<char>(c);
    } else {
      utf8::append(out, c);
    }
  }
  return out;
}

std::optional<char32_t> unquote_character(std::string_view token, bool& malformed) {
  Unquoter reader(token.substr(1), '\'');
  char32_t c = 0;
  bool is_byte = false;
  malformed = false;
  if (!reader.next(c, is_byte)) return std::nullopt;
  if (reader.rest == "'") return c;
  malformed = true;
  return std::nullopt;
}

}  // namespace parlance::gotemplate
