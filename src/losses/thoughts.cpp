// Begin reading at thought_in.
#include "losses/thoughts.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace parlance {
namespace {

/// How marks open and close.
constexpr std::pair<std::string_view, std::string_view> kBrackets[] = {{"<", ">"}, {"[", "]"}, {"\u25C1", "\u25B7"}};

constexpr std::size_t kLongest = 64;  ///< of a mark

/// The mark that a text begins with, or ends with; empty if it has none there.
std::string_view first_mark(std::string_view text) {
  text = text.substr(0, kLongest);
  for (const auto& [open, close] : kBrackets) {
    const std::size_t end = text.starts_with(open) ? text.find(close) : text.npos;
    if (end != text.npos) return text.substr(0, end + close.size());
  }
  return {};
}
std::string_view last_mark(std::string_view text) {
  text.remove_prefix(text.size() - std::min(text.size(), kLongest));
  for (const auto& [open, close] : kBrackets) {
    const std::size_t begin = text.ends_with(close) ? text.rfind(open) : text.npos;
    if (begin != text.npos) return text.substr(begin);
  }
  return {};
}

/// Is it <think> to </think>, <|begin_of_x|> to <|end_of_x|>?
bool opens(std::string_view open, std::string_view close) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"/", ""}, {"end", "begin"}, {"end", "start"}};
  return std::ranges::any_of(kWords, [&](const auto& word) {
    const std::size_t at = close.find(word.first);
    if (at == close.npos) return false;
    std::string made(close);
    return made.replace(at, word.first.size(), word.second) == open;
  });
}

bool is_line_end(std::string_view before, std::string_view behind) {
  constexpr std::string_view kSpaces = " \t\r";
  const std::size_t first = behind.find_first_not_of(kSpaces), last = before.find_last_not_of(kSpaces);
  return (first != behind.npos && behind[first] == '\n') || (last != before.npos && before[last] == '\n');
}

}  // namespace

/// A mark that first_mark or last_mark finds in another text is in this list if it stands in one of these: both find
/// the shortest.
Marks::Marks(std::span<const std::string> texts) {
  const auto add = [this](std::string_view mark) {
    if (!mark.empty()) sorted_.push_back(mark);
  };
  for (const std::string_view text : texts) {
    for (const auto& [open, close] : kBrackets) {
      for (std::size_t at = text.find(open); at != text.npos; at = text.find(open, at + 1))
        add(first_mark(text.substr(at)));
      for (std::size_t at = text.find(close); at != text.npos; at = text.find(close, at + 1))
        add(last_mark(text.substr(0, at + close.size())));
    }
  }
  std::ranges::sort(sorted_);
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
}

bool Marks::know(std::string_view mark) const { return std::ranges::binary_search(sorted_, mark); }

Thought thought_in(std::string_view answer, std::size_t begin, std::size_t end, const Marks& marks) {
  const std::string_view missing = answer.substr(begin, end - begin);
  if (first_mark(missing) == missing && marks.know(missing)) return Thought::mark;
  // The marks themselves may be there.
  const std::string_view before = ascii::trimmed(answer.substr(0, begin)), behind = ascii::trimmed(answer.substr(end));
  const std::string_view ended = last_mark(missing), close = marks.know(ended) ? ended : first_mark(behind);
  if (!marks.know(close)) return Thought::no;
  const std::size_t close_at = answer.find(close);
  const bool is_whole =
      close_at + close.size() == end || (close_at >= end && ascii::trimmed(answer.substr(end, close_at - end)).empty());
  if (!is_whole) return Thought::no;  // it stands in between as well
  const std::string_view first = first_mark(before.empty() ? missing : before);
  if (opens(first, close)) return before.empty() || before == first ? Thought::words : Thought::no;
  const std::string_view words = answer.substr(0, close_at);
  const bool is_opened_within = std::ranges::any_of(kBrackets, [&](const auto& bracket) {
    for (std::size_t at = words.find(bracket.first); at != words.npos; at = words.find(bracket.first, at + 1)) {
      if (opens(first_mark(words.substr(at)), close)) return true;
    }
    return false;
  });
  const bool is_apart = before.empty() && is_line_end(words, answer.substr(close_at + close.size()));
  return is_apart && !is_opened_within ? Thought::words : Thought::no;
}

}  // namespace parlance
