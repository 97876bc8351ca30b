// Codecs of text_codec.h. Begin reading at JsonUnescape::feed.
#include "reply/scan/text_codec.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/escape.h"

namespace parlance::reply {
namespace {

void append_unit(std::string& out, std::uint32_t unit) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[unit >> shift & 15];
}

}  // namespace

/// A name ends where a notation goes on. So every sign that some notation writes behind a name is left out, and so is
/// white space.
bool may_be_in_name(char c) {
  return static_cast<unsigned char>(c) > 0x20 && c != 0x7F &&
         std::string_view("<>{}()[]\",=|").find(c) == std::string_view::npos;
}

/// `<a> <b>` and `<a><b>` both have the words `<a>` and `<b>`. White space at the marker's end stays with its last
/// word.
std::vector<std::string_view> soft_words(std::string_view marker) {
  std::vector<std::string_view> words;
  std::size_t from = 0;
  for (std::size_t i = 1; i < marker.size(); ++i) {
    const bool between_tags = marker[i] == '<' && marker[i - 1] == '>';
    if (!is_json_space(marker[i]) && !between_tags) continue;
    std::size_t end = i;
    while (end < marker.size() && is_json_space(marker[end])) ++end;
    if (end == marker.size()) break;
    words.push_back(marker.substr(from, i - from));
    from = i = end;
  }
  words.push_back(marker.substr(from));
  return words;
}

/// A byte that begins no sequence (F5 on) gets the length 0, hence is never waited for: invalid bytes must not be held
/// back, or a reply that ends in them would lose them.
std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte >= 0xC0) return back < (byte < 0xE0 ? 2u : byte < 0xF0 ? 3u : byte < 0xF5 ? 4u : 0u) ? back : 0;
  }
  return 0;
}

/// The escapes that json.dumps(ensure_ascii=False) writes, but for \b, \f and lone surrogates, which get a \u escape.
void append_json_char(std::string& out, char32_t c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\t': out += "\\t"; return;
    case '\r': out += "\\r"; return;
    default: break;
  }
  if (c < 0x20 || utf8::is_surrogate(c)) return append_unit(out, c);
  utf8::append(out, c);
}

/// A high surrogate waits for the next unit. Two halves become one code point; a half alone has no UTF-8 and stays an
/// escape, so that nothing is lost.
void JsonUnescape::take(char32_t unit, std::string& out) {
  if (high_ != 0) {
    const std::uint32_t high = high_;
    high_ = 0;
    if (unit >= 0xDC00 && unit <= 0xDFFF) return utf8::append(out, 0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00));
    append_unit(out, high);
  }
  if (unit >= 0xD800 && unit <= 0xDBFF) {
    high_ = unit;
  } else if (utf8::is_surrogate(unit)) {
    append_unit(out, unit);
  } else {
    utf8::append(out, unit);
  }
}

void JsonUnescape::feed(char c, std::string& out) {
  if (left_ != 0) {
    unit_ = unit_ << 4 | static_cast<std::uint32_t>(ascii::hex_value(c));
    if (--left_ == 0) take(unit_, out);
    return;
  }
  if (escape_) {
    escape_ = false;
    if (c == 'u') {
      left_ = 4;
      unit_ = 0;
      return;
    }
    finish(out);
    out += json_escape::unescaped_or_same(c);
    return;
  }
  if (c == '\\') {
    escape_ = true;
    return;
  }
  finish(out);
  out += c;
}

void JsonUnescape::finish(std::string& out) {
  if (high_ != 0) append_unit(out, high_);
  high_ = 0;
}

std::string text_of_json(std::string_view literal) {
  const std::string_view inside = literal.substr(1, literal.size() - 2);
  if (std::ranges::all_of(inside, is_plain)) return std::string(inside);
  std::string text;
  JsonUnescape unescape;
  for (const char c : inside) unescape.feed(c, text);
  unescape.finish(text);
  return text;
}

/// The five names of XML and both forms of character references; other names of HTML are left as they are. The number
/// cannot overflow: kLongestEntity leaves it seven digits at most.
std::string text_of_entity(std::string_view entity) {
  const std::string_view name = entity.substr(1, entity.size() - 2);
  if (name == "lt") return "<";
  if (name == "gt") return ">";
  if (name == "amp") return "&";
  if (name == "quot") return "\"";
  if (name == "apos") return "'";
  if (name.size() < 2 || name.front() != '#') return {};
  const bool hexadecimal = (name[1] | 0x20) == 'x';
  std::uint32_t value = 0;
  for (const char c : name.substr(hexadecimal ? 2 : 1)) {
    const int digit = ascii::hex_value(c);
    if (digit < 0 || digit >= (hexadecimal ? 16 : 10)) return {};
    value = value * (hexadecimal ? 16 : 10) + static_cast<std::uint32_t>(digit);
  }
  std::string out;
  if (value != 0 && value <= utf8::kMaxCodePoint && !utf8::is_surrogate(value)) utf8::append(out, value);
  return out;
}

std::string without_entities(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find('&'), text.size());
    out += text.substr(0, begin);
    text.remove_prefix(begin);
    // A text of nothing but '&' stays linear, since the ';' is looked for in a few bytes only.
    const std::size_t end = text.substr(0, kLongestEntity).find(';');
    const std::string meant = end == text.npos ? std::string() : text_of_entity(text.substr(0, end + 1));
    const std::size_t size = meant.empty() ? std::min<std::size_t>(text.size(), 1) : end + 1;
    out += meant.empty() ? text.substr(0, size) : std::string_view(meant);
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace parlance::reply
