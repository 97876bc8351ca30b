// Text of a model or a command among the agent's own lines, on a terminal or in a log: it can look like none of these.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace parlance::cli {

/// How many columns the terminal behind a descriptor has; 0: it is none, or does not say.
std::size_t columns_of(int descriptor);

/// Puts a mark in front of each line of others' text, and of each line that a line of the agent's own goes on in.
class MarkedText {
 public:
  /// Whose line begins here: the agent's own, which may end with what others said, or theirs.
  enum class Line : unsigned char { own, quoted };

  /// What to write for `text`. Control characters and invisible ones are pictures. A line that is longer than `columns`
  /// goes on behind a mark as well, as the terminal would go on at the margin; 0: lines have no end. `style` and
  /// `plain` are written around what is text.
  std::string add(std::string_view text, Line line, std::size_t columns, std::string_view style = {},
                  std::string_view plain = {});
  /// Ends a line that has begun.
  std::string line_break();

 private:
  bool at_begin_ = true;
  std::size_t column_ = 0;
  char32_t last_ = 0;  ///< the character before
};

}  // namespace parlance::cli
