// The push-down scanner of JSON. Begin reading at JsonScanner::feed.
#include "reply/scan/json_scanner.h"

#include <array>
#include <bit>
#include <cstring>

#include "base/ascii.h"
#include "json/escape.h"
#include "reply/scan/text_codec.h"

namespace parlance::reply {
namespace {

using ascii::is_digit;

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

/// Table 3-7 of the Unicode standard: only the second byte has a range of its own, and only behind four first bytes.
/// These ranges keep out overlong forms (E0, F0), surrogates (ED) and what is past U+10FFFF (F4); C0, C1 and F5 on
/// begin nothing.
bool Utf8Scanner::feed(unsigned char c) {
  if (need_ == 0) {
    low_ = 0x80;
    high_ = 0xBF;
    if (c < 0x80) return true;
    if (c < 0xC2 || c > 0xF4) return false;
    need_ = c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    if (c == 0xE0) low_ = 0xA0;
    if (c == 0xED) high_ = 0x9F;
    if (c == 0xF0) low_ = 0x90;
    if (c == 0xF4) high_ = 0x8F;
    return true;
  }
  if (c < low_ || c > high_) return false;
  low_ = 0x80;
  high_ = 0xBF;
  --need_;
  return true;
}

/// Opens a bracket. Real calls nest a few levels, so one word of bits is the whole stack and a scanner allocates
/// nothing. The 65th level moves that word to outer_, and so does every 64th behind it.
Scan JsonScanner::push(bool object) {
  if (depth_ == limit_) {
    too_deep_ = true;
    return Scan::bad;
  }
  if (depth_ != 0 && depth_ % 64 == 0) {
    outer_ += std::string_view(reinterpret_cast<const char*>(&frames_), sizeof frames_);
  }
  const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
  frames_ = object ? frames_ | bit : frames_ & ~bit;
  ++depth_;
  at_ = object ? At::key_or_end : At::value_or_end;
  return Scan::more;
}

/// pop() leaves the bits of closed levels behind, so the shift drops all bits above the innermost open level.
std::uint32_t JsonScanner::objects() const {
  if (depth_ == 0) return 0;
  std::uint32_t count = static_cast<std::uint32_t>(std::popcount(frames_ << (63 - (depth_ - 1u) % 64)));
  for (const char byte : outer_.view())
    count += static_cast<std::uint32_t>(std::popcount(static_cast<unsigned char>(byte)));
  return count;
}

std::vector<bool> JsonScanner::brackets() const {
  std::vector<bool> objects(depth_);
  const std::size_t inner = depth_ == 0 ? 0 : (depth_ - 1u) / 64 * 64;  // the levels before those of frames_
  for (std::size_t i = 0; i < depth_; ++i) {
    std::uint64_t frames = frames_;
    if (i < inner) std::memcpy(&frames, outer_.view().data() + i / 64 * sizeof frames, sizeof frames);
    objects[i] = (frames >> (i % 64) & 1) != 0;
  }
  return objects;
}

Scan JsonScanner::end_value() {
  at_ = At::comma_or_end;
  return depth_ == 0 ? Scan::done : Scan::more;
}

/// Closes a bracket. Where the level below is the last of a stretch of 64, its word comes back from outer_.
Scan JsonScanner::pop() {
  --depth_;
  if (depth_ != 0 && depth_ % 64 == 0) {
    std::string outer = outer_.take();
    std::memcpy(&frames_, outer.data() + outer.size() - sizeof frames_, sizeof frames_);
    outer.resize(outer.size() - sizeof frames_);
    outer_ = std::move(outer);
  }
  return end_value();
}

Scan JsonScanner::begin_string(bool key) {
  key_ = key;
  at_ = At::string;
  return Scan::more;
}

/// The letters of true, false or null that are to come.
std::string_view JsonScanner::rest_of_literal() const {
  const std::string_view all = literal_ == 't' ? "true" : literal_ == 'f' ? "false" : "null";
  return all.substr(all.size() - left_);
}

Scan JsonScanner::begin_literal(char first) {
  literal_ = first;
  left_ = first == 'f' ? 4 : 3;
  at_ = At::literal;
  return Scan::more;
}

/// `True` and `False` differ from JSON in their first letter only. `None` differs in all four from `null`: so 'o', 'n'
/// and 'e' stand for the letter of null that is due in their place. The mender asks for one byte at a time.
char JsonScanner::letter_of_python(char c) const {
  if (at_ == At::value || at_ == At::value_or_end) return c == 'T' ? 't' : c == 'F' ? 'f' : c == 'N' ? 'n' : '\0';
  constexpr std::string_view kNone = "one";
  const bool none = at_ == At::literal && literal_ == 'n' && left_ <= kNone.size() && c == kNone[kNone.size() - left_];
  return none ? rest_of_literal().front() : '\0';
}

Scan JsonScanner::begin_value(char c) {
  switch (c) {
    case '{': return push(true);
    case '[': return push(false);
    case '"': return begin_string(false);
    case 't':
    case 'f':
    case 'n': return begin_literal(c);
    case '-': at_ = At::minus; return Scan::more;
    case '0': at_ = At::zero; return Scan::more;
    default: break;
  }
  if (!is_digit(c)) return Scan::bad;
  at_ = At::digits;
  return Scan::more;
}

Scan JsonScanner::feed_structure(char c) {
  if (is_json_space(c)) return Scan::more;
  switch (at_) {
    case At::value: return begin_value(c);
    case At::value_or_end: return c == ']' ? pop() : begin_value(c);
    case At::key_or_end:
      if (c == '}') return pop();
      [[fallthrough]];
    case At::key: return c == '"' ? begin_string(true) : Scan::bad;
    case At::colon:
      if (c != ':') return Scan::bad;
      at_ = At::value;
      return Scan::more;
    default: break;
  }
  if (c == ',') {
    at_ = inside_object() ? At::key : At::value;
    return Scan::more;
  }
  return c == (inside_object() ? '}' : ']') ? pop() : Scan::bad;
}

Scan JsonScanner::feed_string(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (at_ == At::escape) {
    if (!json_escape::is_escape(c)) return Scan::bad;
    at_ = c == 'u' ? At::hex : At::string;
    left_ = 4;
    return Scan::more;
  }
  if (at_ == At::hex) {
    if (!is_hex(c)) return Scan::bad;
    if (--left_ == 0) at_ = At::string;
    return Scan::more;
  }
  if (utf8_.inside() || byte >= 0x80) return utf8_.feed(byte) ? Scan::more : Scan::bad;
  if (c == '\\') {
    at_ = At::escape;
    return Scan::more;
  }
  if (c != '"') return byte < 0x20 ? Scan::bad : Scan::more;
  if (!key_) return end_value();
  at_ = At::colon;
  return Scan::more;
}

bool JsonScanner::is_whole_number() const {
  return at_ == At::zero || at_ == At::digits || at_ == At::fraction || at_ == At::power;
}

/// A number has no last sign: only the byte behind it ends it. That byte belongs to the bracket around the number, or,
/// at the top, to whatever follows the value.
Scan JsonScanner::end_number(char c) {
  if (!is_whole_number()) return Scan::bad;
  at_ = At::comma_or_end;
  return depth_ == 0 ? Scan::done_before : feed_structure(c);
}

Scan JsonScanner::feed_number(char c) {
  const bool digit = is_digit(c);
  const auto go = [this](At to) {
    at_ = to;
    return Scan::more;
  };
  switch (at_) {
    case At::minus: return c == '0' ? go(At::zero) : digit ? go(At::digits) : Scan::bad;
    case At::point: return digit ? go(At::fraction) : Scan::bad;
    case At::sign: return digit ? go(At::power) : Scan::bad;
    case At::exponent: return digit ? go(At::power) : c == '+' || c == '-' ? go(At::sign) : Scan::bad;
    // RFC 8259, section 6: no leading zeros.
    case At::zero:
      if (digit) return Scan::bad;
      break;
    default:
      if (digit) return Scan::more;
      break;
  }
  if (c == '.' && (at_ == At::zero || at_ == At::digits)) return go(At::point);
  if ((c == 'e' || c == 'E') && at_ != At::power) return go(At::exponent);
  return end_number(c);
}

[[gnu::always_inline]] inline Scan JsonScanner::step(char c) {
  switch (at_) {
    case At::string:
    case At::escape:
    case At::hex: return feed_string(c);
    case At::literal:
      if (c != rest_of_literal().front()) return Scan::bad;
      return --left_ == 0 ? end_value() : Scan::more;
    case At::value:
    case At::value_or_end:
    case At::key:
    case At::key_or_end:
    case At::colon:
    case At::comma_or_end: return feed_structure(c);
    default: return feed_number(c);
  }
}

Scan JsonScanner::feed(char c) { return step(c); }

/// Most bytes of a call are plain text of a string. They change no state, so one look into a table passes each.
Scan JsonScanner::run(const char*& p, const char* end) {
  while (p != end) {
    if (at_ == At::string && !utf8_.inside()) {
      while (p != end && is_plain(*p)) ++p;
      if (p == end) break;
    }
    const Scan scan = step(*p);
    if (scan == Scan::more || scan == Scan::done) ++p;
    if (scan != Scan::more) return scan;
  }
  return Scan::more;
}

std::string_view JsonScanner::expected() const {
  if (too_deep_) return "nesting no deeper than the limit";
  switch (at_) {
    case At::value: return "a value";
    case At::value_or_end: return "a value or ']'";
    case At::key: return "a key";
    case At::key_or_end: return "a key or '}'";
    case At::colon: return "':'";
    case At::comma_or_end: return depth_ == 0 ? "the end of the value" : inside_object() ? "',' or '}'" : "',' or ']'";
    case At::string: return "text without control characters, and '\"'";
    case At::escape:
    case At::hex: return "an escape of JSON";
    case At::literal: return "true, false or null";
    default: return "a digit";
  }
}

}  // namespace parlance::reply
