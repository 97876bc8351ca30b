// Texts of Python as JSON's, byte by byte: quotes, prefixes, escapes, line ends, texts side by side.
//
// Begin reading at feed_text; a text's opening quote leads to begin_text.
#include "base/ascii.h"
#include "base/utf8.h"
#include "reply/scan/python_scanner.h"
#include "reply/scan/text_codec.h"

namespace parlance::reply {
namespace {

bool is_octal(char c) { return c >= '0' && c <= '7'; }

char32_t simple_escape(char c) {
  switch (c) {
    case 'a': return 7;
    case 'b': return 8;
    case 'f': return 12;
    case 'n': return 10;
    case 'r': return 13;
    case 't': return 9;
    case 'v': return 11;
    case '\\':
    case '\'':
    case '"': return static_cast<char32_t>(c);
    default: return 0;
  }
}

}  // namespace

Scan PythonScanner::put_char(char32_t c) {
  append_json_char(json(), c);
  return go(At::text);
}

Scan PythonScanner::begin_text(char quote) {
  if (!joining_) json() += '"';
  scalar_key_ = false;
  quote_ = quote;
  triple_ = after_return_ = false;
  return go(At::quote);
}

/// Behind the first quote, and behind a second: an empty text, or the begin of a long one.
Scan PythonScanner::feed_quote(char c) {
  const bool second = at_ == At::quotes;
  if (c == quote_) {
    triple_ = second;
    return go(second ? At::text : At::quotes);
  }
  if (second) return end_text(c);
  at_ = At::text;
  return feed_plain(c);
}

/// A closing quote, of which what follows says whether it is one.
Scan PythonScanner::end_text(char c) {
  word_.clear();
  may_be_text_ = !triple_ && !raw_;
  at_ = At::after_text;
  return feed(c);
}

Scan PythonScanner::feed_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (after_return_ && c == '\n') {
    after_return_ = false;
    return Scan::more;
  }
  after_return_ = false;
  if (utf8_.inside() || byte >= 0x80) {
    if (!utf8_.feed(byte)) return bad("UTF-8");
    json() += c;
    return Scan::more;
  }
  if (c == quote_) {
    count_ = 1;
    if (triple_) return go(At::closing);
    word_.clear();
    may_be_text_ = !raw_;
    return go(At::after_text);
  }
  if (c == '\\') return go(At::escape);
  if (c == '\n' || c == '\r') {
    after_return_ = c == '\r';
    return put_char('\n');
  }
  return put_char(byte);
}

Scan PythonScanner::feed_closing(char c) {
  if (c == quote_) {
    may_be_text_ = false;
    return ++count_ == 3 ? go(At::after_text) : Scan::more;
  }
  while (count_ > 0) {
    --count_;
    put_char(static_cast<unsigned char>(quote_));
  }
  at_ = At::text;
  return feed_plain(c);
}

Scan PythonScanner::feed_escape(char c) {
  if (raw_) {
    put_char('\\');
    after_return_ = c == '\r';
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\r') return put_char('\n');
    return byte < 0x80 ? put_char(byte) : feed_plain(c);
  }
  if (c == '\n' || c == '\r') {
    after_return_ = c == '\r';
    return go(At::text);
  }
  if (const char32_t simple = simple_escape(c); simple != 0) return put_char(simple);
  value_ = 0;
  if (is_octal(c)) {
    value_ = static_cast<char32_t>(c - '0');
    count_ = 2;
    return go(At::octal);
  }
  if (c == 'x' || c == 'u' || c == 'U') {
    count_ = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    word_.begin(c);
    return go(At::digits);
  }
  // no escape: Python keeps the backslash. So are characters by name (\N{BULLET}), whose names are not known here
  put_char('\\');
  return feed_plain(c);
}

Scan PythonScanner::feed_digits(char c) {
  const int digit = ascii::hex_value(c);
  if (digit < 0) return bad("a hexadecimal digit");
  value_ = value_ << 4 | static_cast<char32_t>(digit);
  if (--count_ > 0) return word_ += c, Scan::more;
  return value_ <= utf8::kMaxCodePoint ? put_char(value_) : bad("a character of Unicode");
}

Scan PythonScanner::feed_octal(char c) {
  if (count_ > 0 && is_octal(c)) {
    value_ = value_ << 3 | static_cast<char32_t>(c - '0');
    --count_;
    return Scan::more;
  }
  put_char(value_);
  return feed_plain(c);
}

/// Whether the text may be over before this byte: what goes on with the call stands there.
bool PythonScanner::ends_text(char c) const {
  const Frame& frame = brackets_->frames.back();
  if (is_key_ && c == ':') return true;
  return (!is_key_ || !frame.decided) && (c == ',' || c == close_of(frame.in));
}

/// The quote closed nothing: it is a part of the text, as in 'sed -n '1,9p' x'.
Scan PythonScanner::resume_text(char c) {
  const std::string gap = word_.take();
  put_char(static_cast<unsigned char>(quote_));
  for (const char blank : gap) put_char(static_cast<unsigned char>(blank));
  return feed_plain(c);
}

/// A letter behind a text: of another one, or the closing quote was none.
Scan PythonScanner::feed_prefix(char c) {
  if (c != '"' && c != '\'' && !may_be_text_) return bad("a literal");
  if (c == '"' || c == '\'') {
    joining_ = true;
    raw_ = value_ == 'r' || value_ == 'R';
    return begin_text(c);
  }
  resume_text(static_cast<char>(value_));
  return feed(c);
}

/// Another text right behind goes on with this one.
Scan PythonScanner::feed_after_text(char c) {
  if (continued_ && c != '\n' && c != '\r') return bad("the end of the line");
  if (skip_blank(c)) {
    word_ += c;
    may_be_text_ = may_be_text_ && !comment_ && !continued_ && word_.size() <= kLongestGap;
    return Scan::more;
  }
  if (c == 'r' || c == 'R' || c == 'u' || c == 'U') {
    value_ = static_cast<unsigned char>(c);
    return go(At::prefix);
  }
  const bool another = c == '"' || c == '\'';
  if (!another && may_be_text_ && !ends_text(c)) return resume_text(c);
  if (another) {
    joining_ = true;
    raw_ = false;
    return begin_text(c);
  }
  json() += '"';
  joining_ = false;
  at_ = is_key_ ? At::colon : At::after;
  return feed(c);
}

Scan PythonScanner::feed_text(char c) {
  switch (at_) {
    case At::prefix: return feed_prefix(c);
    case At::quote:
    case At::quotes: return feed_quote(c);
    case At::closing: return feed_closing(c);
    case At::escape: return feed_escape(c);
    case At::digits: return feed_digits(c);
    case At::octal: return feed_octal(c);
    case At::after_text: return feed_after_text(c);
    default: return feed_plain(c);
  }
}

}  // namespace parlance::reply
