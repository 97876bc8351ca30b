// The parser of patterns, which makes nodes as it goes. Groups nest at most kPatternDepth deep. Begin reading at
// Parser::run.
#include "grammar/regex.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"

namespace parlance::grammar {
namespace {

constexpr int kPatternDepth = 32;
constexpr std::size_t kLongestPattern = 4096;
constexpr std::uint32_t kMostRepeats = 10000;

const std::vector<Range> kDigits{{'0', '9'}};
const std::vector<Range> kWord{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const std::vector<Range> kSpace{{9, 13},          {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680},
                                {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
                                {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
const std::vector<Range> kLineEnds{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

std::uint32_t sum(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a} + b, kUnbounded));
}
std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  if (a == 0 || b == 0) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{a} * b, kUnbounded));
}

/// The syntax is ECMAScript's, as JSON Schema asks; what a context-free grammar cannot express
/// (look-around, back references, borders of words) is refused with a reason, never approximated. After a failure the
/// position is the end, so that every loop stops.
class Parser {
 public:
  Parser(Ir& ir, const Unit& unit, std::string_view text)
      : ir_(ir), unit_(unit), p_(text.data()), end_(p_ + text.size()) {}
  Regex run();
  const std::string& why() const { return why_; }

 private:
  Regex fail(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    p_ = end_;
    return {ir_.never(), 0, 0, kNone};
  }
  bool at(char c) const { return p_ != end_ && *p_ == c; }
  bool take(char c) {
    if (!at(c)) return false;
    ++p_;
    return true;
  }
  Regex of_set(std::vector<Range> ranges) {
    const NodeId node = unit_(std::move(ranges));
    return {node, 1, 1, node};
  }
  Regex anything() { return {ir_.repeat(unit_(kAnyChar), 0, kUnbounded), 0, kUnbounded, unit_(kAnyChar)}; }
  Regex alternation(int depth);
  Regex alternative(int depth);
  Regex top_alternative();
  bool is_held_already() const;
  Regex atom(int depth);
  Regex group(int depth);
  Regex quantified(Regex what);
  bool take_counts(std::uint32_t& min, std::uint32_t& max);
  bool take_number(std::uint32_t& number);
  char32_t take_char();
  Regex joined(std::span<const Regex> parts);
  Regex any_of(std::span<const Regex> parts);
  std::vector<Range> set();
  bool take_class(char c, std::vector<Range>& ranges);
  char32_t escaped();
  char32_t code_unit();
  char32_t hex(int digits);

  Ir& ir_;
  const Unit& unit_;
  const char* p_;
  const char* end_;
  // Of the top's alternative that is read: each has anchors of its own.
  bool anchored_ = false;  ///< it begins with ^
  bool begun_ = false;     ///< a part was read that takes characters
  std::string why_;
};

/// One after the other. All parts at once: a node for each beginning would cost the square of the pattern.
Regex Parser::joined(std::span<const Regex> parts) {
  Regex all{ir_.empty(), 0, 0, kNone};
  std::vector<NodeId> nodes;
  for (const Regex& part : parts) {
    if (part.node == ir_.empty()) continue;
    all.unit = nodes.empty() ? part.unit : kNone;
    all.min = sum(all.min, part.min);
    all.max = sum(all.max, part.max);
    nodes.push_back(part.node);
  }
  all.node = ir_.sequence(nodes);
  return all;
}

Regex Parser::any_of(std::span<const Regex> parts) {
  if (parts.size() == 1) return parts[0];
  Regex all{ir_.never(), kUnbounded, 0, kNone};
  std::vector<NodeId> nodes;
  for (const Regex& part : parts) {
    all.min = std::min(all.min, part.min);
    all.max = std::max(all.max, part.max);
    nodes.push_back(part.node);
  }
  all.node = ir_.choice(nodes);
  return all;
}

Regex Parser::run() {
  std::vector<Regex> ways{top_alternative()};
  while (take('|')) ways.push_back(top_alternative());
  if (p_ != end_) return fail("')' without '('");
  return any_of(ways);
}

/// Without an anchor, what stands before or behind may be anything.
/// (This is where JSON Schema differs from a whole match: a `pattern` is searched for.)
Regex Parser::top_alternative() {
  std::vector<Regex> parts;
  anchored_ = take('^');
  begun_ = false;
  if (!anchored_) parts.push_back(anything());
  parts.push_back(alternative(0));
  if (!take('$')) parts.push_back(anything());
  return joined(parts);
}

/// Each alternative begins where the group begins, so whether something was read before is the same for all of them.
Regex Parser::alternation(int depth) {
  const bool begun = begun_;
  std::vector<Regex> ways{alternative(depth)};
  while (take('|')) {
    begun_ = begun;
    ways.push_back(alternative(depth));
  }
  return any_of(ways);
}

Regex Parser::alternative(int depth) {
  std::vector<Regex> parts;
  while (p_ != end_ && *p_ != '|' && *p_ != ')') {
    const bool last = *p_ == '$' && depth == 0 && (p_ + 1 == end_ || p_[1] == '|');
    if (last) break;
    if (is_held_already()) {
      ++p_;
      continue;
    }
    if (*p_ == '^' || *p_ == '$') return fail("'^' or '$' inside of the pattern");
    parts.push_back(quantified(atom(depth)));
    begun_ = true;
  }
  return joined(parts);
}

/// An anchor in groups that begin, or end, where the pattern does, which is anchored there itself: ^(?:^…$)$.
bool Parser::is_held_already() const {
  const std::string_view behind(p_, static_cast<std::size_t>(end_ - p_));
  if (behind.front() == '^') return !begun_ && anchored_;
  return behind.front() == '$' && behind.ends_with('$') && behind.find_first_not_of("$)") == behind.npos;
}

Regex Parser::atom(int depth) {
  if (take('(')) return group(depth);
  if (take('[')) return of_set(set());
  if (take('.')) return of_set(complement(normalized(kLineEnds)));
  if (at('*') || at('+') || at('?')) return fail("a repeat of nothing");
  if (!take('\\')) return of_set([c = take_char()] { return std::vector<Range>{{c, c}}; }());
  if (p_ == end_) return fail("a backslash at the end");
  std::vector<Range> ranges;
  if (take_class(*p_, ranges)) return of_set(std::move(ranges));
  if (*p_ == 'b' || *p_ == 'B') return fail("a border of words");
  const char32_t c = escaped();
  return of_set({{c, c}});
}

Regex Parser::group(int depth) {
  if (depth == kPatternDepth) return fail("groups too deep");
  if (take('?')) {
    if (at('P') && p_ + 1 != end_ && p_[1] == '<') ++p_;  // as Python and Rust write it
    const bool named = at('<') && p_ + 1 != end_ && p_[1] != '=' && p_[1] != '!';
    if (named) {
      while (p_ != end_ && *p_ != '>') ++p_;
      take('>');
    } else if (!take(':')) {
      return fail("a look around");
    }
  }
  const Regex inside = alternation(depth + 1);
  return take(')') ? inside : fail("'(' without ')'");
}

bool Parser::take_number(std::uint32_t& number) {
  const char* const begin = p_;
  number = 0;
  while (p_ != end_ && *p_ >= '0' && *p_ <= '9') {
    number = std::min<std::uint32_t>(number * 10 + static_cast<std::uint32_t>(*p_++ - '0'), 1000000);
  }
  return p_ != begin;
}

/// {m}, {m,}, {m,n}; anything else after a brace is text.
bool Parser::take_counts(std::uint32_t& min, std::uint32_t& max) {
  const char* const begin = p_;
  ++p_;
  bool good = take_number(min);
  max = min;
  if (good && take(',')) {
    if (!take_number(max)) max = kUnbounded;
  }
  good = good && take('}');
  if (!good) p_ = begin;
  return good;
}

/// What may be empty is not repeated: engines differ in whether that ends, and GBNF's does not. `x*?` matches the same
/// texts as `x*`, and no engine of grammars asks in which order they are tried.
Regex Parser::quantified(Regex what) {
  std::uint32_t min = 1, max = 1;
  if (take('*')) {
    min = 0, max = kUnbounded;
  } else if (take('+')) {
    max = kUnbounded;
  } else if (take('?')) {
    min = 0;
  } else if (!at('{') || !take_counts(min, max)) {
    return what;
  }
  take('?');  // whether it is lazy does not matter to the language
  if (at('*') || at('+') || at('{')) return fail("a repeat of a repeat");
  if (what.min == 0 && max > 1 && what.node != ir_.empty()) return fail("a repeat of what may be nothing");
  if (min > max) return fail("a repeat whose counts are in the wrong order");
  if (min > kMostRepeats || (max != kUnbounded && max > kMostRepeats)) return fail("more than 10000 repeats");
  const bool plain = what.unit != kNone && what.min == 1 && what.max == 1;
  return {ir_.repeat(what.node, min, max), product(what.min, min), product(what.max, max), plain ? what.unit : kNone};
}

char32_t Parser::take_char() {
  const utf8::Decoded c = utf8::decode(p_, end_);
  p_ += c.size;
  return c.code_point;
}

/// \d \w \s and their complements. \d and \w are ASCII in ECMAScript, unlike Python's; \s is Unicode's white space.
bool Parser::take_class(char c, std::vector<Range>& ranges) {
  const std::vector<Range>* found = nullptr;
  switch (c | 0x20) {
    case 'd': found = &kDigits; break;
    case 'w': found = &kWord; break;
    case 's': found = &kSpace; break;
    default: return false;
  }
  ++p_;
  const std::vector<Range> all = c < 'a' ? complement(normalized(*found)) : *found;
  ranges.insert(ranges.end(), all.begin(), all.end());
  return true;
}

char32_t Parser::hex(int digits) {
  char32_t value = 0;
  for (int i = 0; i < digits; ++i) {
    const char c = p_ == end_ ? ' ' : *p_;
    const int digit = ascii::hex_value(c);
    if (digit < 0) {
      fail("an escape without its digits");
      return 0;
    }
    value = value * 16 + static_cast<char32_t>(digit);
    ++p_;
  }
  return value;
}

/// Behind "\u": four digits; a pair of surrogates is one code point, one alone is none.
char32_t Parser::code_unit() {
  const char32_t high = hex(4);
  if (high < 0xD800 || high > 0xDFFF) return high;
  const bool pair = high < 0xDC00 && end_ - p_ >= 6 && p_[0] == '\\' && p_[1] == 'u';
  if (pair) {
    p_ += 2;
    const char32_t low = hex(4);
    if (low >= 0xDC00 && low <= 0xDFFF) return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }
  fail("half of a pair of surrogates");
  return 0;
}

/// What stands behind a backslash, where it is one character.
/// What ECMAScript's grammar makes a character of. A letter without a meaning is an error there with the flag u, and
/// here, rather than the letter itself: `\p` and `\1` would otherwise match something else.
char32_t Parser::escaped() {
  const char c = *p_;
  const bool letter = ascii::is_alnum(c);
  if (!letter) return take_char();
  ++p_;
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'f': return '\f';
    case 'v': return '\v';
    case '0':
      if (p_ != end_ && *p_ >= '0' && *p_ <= '9') break;
      return 0;
    case 'x': return hex(2);
    case 'u': return code_unit();
    case 'c':
      if (p_ != end_ && ((*p_ | 0x20) >= 'a' && (*p_ | 0x20) <= 'z')) return static_cast<char32_t>(*p_++ & 31);
      break;
    default: break;
  }
  fail(c == 'p' || c == 'P'   ? "a property of Unicode"
       : c >= '0' && c <= '9' ? "a back reference or an octal escape"
                              : "an escape");
  return 0;
}

/// Behind '['.
/// "[]" matches nothing and "[^]" anything, as in ECMAScript; in Python and POSIX the bracket would be a member.
std::vector<Range> Parser::set() {
  const bool negated = take('^');
  std::vector<Range> ranges;
  while (p_ != end_ && *p_ != ']') {
    const bool escape = take('\\');
    if (p_ == end_) break;
    if (escape && take_class(*p_, ranges)) continue;
    const char32_t first = !escape ? take_char() : at('b') ? (++p_, U'\b') : escaped();
    char32_t last = first;
    if (at('-') && p_ + 1 != end_ && p_[1] != ']') {
      ++p_;
      const bool escaped_end = take('\\');
      if (p_ == end_) break;
      std::vector<Range> ignored;
      if (escaped_end && take_class(*p_, ignored)) {
        fail("a range that ends in a class");
        break;
      }
      last = escaped_end ? escaped() : take_char();
    }
    if (last < first) fail("a range whose ends are in the wrong order");
    ranges.push_back({first, last});
  }
  if (!take(']')) fail("'[' without ']'");
  std::vector<Range> all = normalized(std::move(ranges));
  return negated ? complement(all) : all;
}

}  // namespace

std::optional<Regex> parse_regex(Ir& ir, const Unit& unit, std::string_view pattern, std::string& why) {
  if (pattern.size() > kLongestPattern) {
    why = "a pattern of more than 4096 bytes";
    return std::nullopt;
  }
  Parser parser(ir, unit, pattern);
  const Regex regex = parser.run();
  why = parser.why();
  return why.empty() ? std::optional(regex) : std::nullopt;
}

}  // namespace parlance::grammar
