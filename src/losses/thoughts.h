// Reasoning in the content of an answer, between marks: <think>…</think> and what follows it.
//
// Templates cut it out of earlier answers by design. What else they cut out by the same rule, such as an answer that
// speaks of </think>, is lost.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parlance {

/// What a stretch of an answer is.
enum class Thought : std::uint8_t {
  no,     ///< words of the answer
  words,  ///< reasoning at its beginning, with its marks
  mark,   ///< a mark alone, as the template writes it itself
};
/// The marks in a template's texts, found once: an answer may have any number of places to ask of.
class Marks {
 public:
  /// Lifetime: that of the texts.
  explicit Marks(std::span<const std::string> texts);
  bool know(std::string_view mark) const;

 private:
  std::vector<std::string_view> sorted_;
};

/// What bytes [begin, end) of an answer are, which the prompt lacks. `marks`: the template's, which has the one that
/// ends reasoning. Where the prompt had the mark that opens it, the answer has none; then the other stands at
/// a line's end or beginning.
Thought thought_in(std::string_view answer, std::size_t begin, std::size_t end, const Marks& marks);

}  // namespace parlance
