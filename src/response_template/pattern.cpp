// Writing regular expressions. Begin reading at soft_pattern.
#include "response_template/pattern.h"

#include <algorithm>

#include "base/ascii.h"

namespace parlance::response {
namespace {

constexpr std::string_view kSpecial = "\\^$.|?*+()[]{}";

using ascii::is_space;

void append_escaped(std::string& out, char c) {
  if (c == '\n') {
    out += "\\n";
  } else {
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) append_escaped(out, c);
  return out;
}

/// White space with a newline in it matches any, or none, as the reader's markers do; a blank alone is a blank.
std::string soft_pattern(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t run = 0;
    while (run < text.size() && is_space(text[run])) ++run;
    if (text.substr(0, run).find('\n') != std::string_view::npos) {
      out += "\\s*";
      text = text.substr(run);
      continue;
    }
    append_escaped(out, text.front());
    text = text.substr(1);
  }
  return out;
}

/// Longest first: Python's `re` takes the first alternative that matches, not the longest.
std::string joined_pattern(std::vector<std::string> alternatives) {
  std::stable_sort(alternatives.begin(), alternatives.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::string out;
  for (auto one = alternatives.begin(); one != alternatives.end(); ++one) {
    if (std::find(alternatives.begin(), one, *one) == one) out.append(out.empty() ? "" : "|").append(*one);
  }
  return out;
}

/// A text that others go on from is not meant where one of those stands. The order of alternatives does not say so
/// while a reply comes in pieces: what stands behind the longer one is not there yet, and the shorter one with
/// something else is.
static std::string unless_longer(const std::string& text, const std::vector<std::string>& texts) {
  std::vector<std::string> rests;
  for (const std::string& other : texts) {
    if (other.size() > text.size() && other.starts_with(text))
      rests.push_back(soft_pattern(std::string_view(other).substr(text.size())));
  }
  return rests.empty() ? "" : "(?!" + joined_pattern(std::move(rests)) + ")";
}

std::string any_pattern(const std::vector<std::string>& texts) {
  std::vector<std::string> patterns;
  for (const std::string& text : texts) patterns.push_back(soft_pattern(text) + unless_longer(text, texts));
  if (patterns.size() == 1) return patterns.front();
  return "(?:" + joined_pattern(std::move(patterns)) + ")";
}

std::string word_pattern(std::string_view stops) {
  std::string out = "[^\\s";
  std::string seen;
  for (const char c : stops) {
    // A part of a character may not stand in a class alone; what begins with one is not told by its first byte.
    if (is_space(c) || static_cast<unsigned char>(c) >= 0x80 || seen.find(c) != std::string::npos) continue;
    seen += c;
    if (std::string_view("\\^-[]&~|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + "]+";
}

std::string optional_space(std::string_view space) {
  std::string out;
  for (const char c : space) out.append(escaped(std::string_view(&c, 1))).append("?");
  return out;
}

}  // namespace parlance::response
