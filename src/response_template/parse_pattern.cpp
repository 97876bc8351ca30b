// Reading simple regular expressions: texts, white space, groups, alternatives of texts. Begin reading at
// parse_pattern.
#include "base/ascii.h"
#include "response_template/pattern.h"

namespace parlance::response {
namespace {

constexpr std::size_t kMostSequences = 64;  ///< of alternatives within alternatives
constexpr std::size_t kDeepest = 16;        ///< brackets

/// The end of what begins with a bracket or a class at `at`: behind its last byte, or npos.
std::size_t closed(std::string_view pattern, std::size_t at) {
  std::size_t depth = 0;
  bool in_class = false;
  std::size_t first = 0;  // where a class's first member stands: a bracket there closes nothing
  for (; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '\\') {
      if (++at == pattern.size()) break;
    } else if (in_class) {
      if (c == ']' && at != first) in_class = false;
    } else if (c == '[') {
      in_class = true;
      first = at + (pattern.substr(at + 1).starts_with('^') ? 2 : 1);
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      if (depth == 0) return std::string_view::npos;
      --depth;
    }
    if (depth == 0 && !in_class) return at + 1;
  }
  return std::string_view::npos;
}

/// `pattern` at its outer bars.
std::optional<std::vector<std::string_view>> split(std::string_view pattern) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '|') {
      out.push_back(pattern.substr(begin, at - begin));
      begin = ++at;
    } else if ((at = closed(pattern, at)) == std::string_view::npos) {
      return std::nullopt;
    }
  }
  out.push_back(pattern.substr(begin));
  return out;
}

class Parser {
 public:
  std::optional<std::vector<Sequence>> alternatives(std::string_view pattern, std::size_t depth) {
    const auto parts = split(pattern);
    if (!parts || depth > kDeepest) return std::nullopt;
    std::vector<Sequence> out;
    for (const std::string_view part : *parts) {
      auto some = sequence(part, depth);
      if (!some || out.size() + some->size() > kMostSequences) return std::nullopt;
      out.insert(out.end(), some->begin(), some->end());
    }
    return out;
  }

 private:
  using Some = std::vector<Sequence>;

  static void add(Some& to, const Element& element) {
    for (Sequence& sequence : to) {
      if (element.kind == Element::Kind::text && !sequence.empty() && sequence.back().kind == Element::Kind::text) {
        sequence.back().text += element.text;
      } else {
        sequence.push_back(element);
      }
    }
  }

  /// A quantifier at the beginning of `rest`: "", "?", "*", "+", with a lazy mark.
  static std::string_view quantifier(std::string_view rest) {
    if (rest.empty() || std::string_view("?*+").find(rest.front()) == std::string_view::npos) return {};
    return rest.substr(0, rest.size() > 1 && (rest[1] == '?' || rest[1] == '+') ? 2 : 1);
  }

  /// Whether it begins with {2}, {2,} or {2,3}, which no element says. Other braces are text.
  static bool counts(std::string_view rest) {
    if (rest.empty() || rest.front() != '{') return false;
    const std::size_t end = rest.find_first_not_of("0123456789,", 1);
    return end > 1 && end != rest.npos && rest[end] == '}';
  }

  std::optional<Some> sequence(std::string_view rest, std::size_t depth) {
    Some out(1);
    while (!rest.empty()) {
      const std::size_t end = closed(rest, 0);
      if (end == std::string_view::npos) return std::nullopt;
      const std::string_view atom = rest.substr(0, end);
      const std::string_view times = quantifier(rest.substr(end));
      if (counts(rest.substr(end + times.size()))) return std::nullopt;
      if (!(atom.front() == '(' ? group(out, atom, times, depth) : single(out, atom, times))) return std::nullopt;
      rest = rest.substr(end + times.size());
    }
    return out;
  }

  /// A character, an escape or a class.
  static bool single(Some& out, std::string_view atom, std::string_view times) {
    const char c = atom.front() == '\\' ? atom.back() : atom.front();
    const bool escape = atom.front() == '\\';
    if (escape ? c == 's' || c == 'n' : c == '\n' || c == ' ') {
      if (c == ' ' && times.empty()) return add(out, {.text = " "}), true;
      if (c == 'n' && times.empty()) return add(out, {.text = "\n"}), true;
      return add(out, {.kind = Element::Kind::space}), true;
    }
    if (escape && (c == 'A' || c == 'Z'))
      return add(out, {.kind = c == 'A' ? Element::Kind::begin : Element::Kind::ahead, .text = "\\Z"}), times.empty();
    if (c == '^' && !escape) return add(out, {.kind = Element::Kind::begin}), true;
    if (c == '$' && !escape) return add(out, {.kind = Element::Kind::ahead, .text = "\\Z"}), true;
    const bool many = atom.front() == '[' || (!escape && c == '.') ||
                      (escape && std::string_view("dDwWS").find(c) != std::string_view::npos);
    if (many) return add(out, {.kind = Element::Kind::skip}), true;
    const bool letter = ascii::is_alnum(c);
    if ((escape && letter) || !times.empty() ||
        (!escape && std::string_view("{}*+?").find(c) != std::string_view::npos && c != '{' && c != '}'))
      return false;
    return add(out, {.text = std::string(1, c)}), true;
  }

  bool group(Some& out, std::string_view atom, std::string_view times, std::size_t depth) {
    const std::string_view inner = atom.substr(1, atom.size() - 2);
    if (inner.starts_with("?P="))
      return add(out, {.kind = Element::Kind::repeat, .text = std::string(inner.substr(3))}), times.empty();
    if (inner.starts_with("?="))
      return add(out, {.kind = Element::Kind::ahead, .text = std::string(inner.substr(2))}), times.empty();
    if (inner.starts_with("?!")) return times.empty();  // what must not follow would not be read otherwise either
    for (const std::string_view named : {"?P<", "?<"}) {
      const std::size_t end = inner.find('>');
      if (!inner.starts_with(named) || inner.starts_with("?<=") || inner.starts_with("?<!") ||
          end == std::string_view::npos)
        continue;
      return add(out,
                 {.kind = Element::Kind::group, .text = std::string(inner.substr(named.size(), end - named.size()))}),
             times.empty();
    }
    if (inner.starts_with("?") && !inner.starts_with("?:")) return false;
    auto some = alternatives(inner.starts_with("?:") ? inner.substr(2) : inner, depth + 1);
    if (!some || (!times.empty() && times.front() != '?')) return false;
    if (!times.empty()) some->emplace_back();
    return multiply(out, *some);
  }

  /// Alternatives in a row multiply: (a|b)(c|d) is four sequences. The bound stops what doubles with each group.
  static bool multiply(Some& out, const Some& by) {
    if (out.size() * by.size() > kMostSequences) return false;
    Some all;
    for (const Sequence& tail : by) {
      Some some = out;
      for (const Element& element : tail) add(some, element);
      all.insert(all.end(), some.begin(), some.end());
    }
    out = std::move(all);
    return true;
  }
};

}  // namespace

std::optional<std::vector<Sequence>> parse_pattern(std::string_view pattern) {
  constexpr std::size_t kLongest = 4096;
  if (pattern.size() > kLongest) return std::nullopt;
  return Parser().alternatives(pattern, 0);
}

}  // namespace parlance::response
