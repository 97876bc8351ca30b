// Regular expressions as response_templates have them (Python's module regex, DOTALL): written, and read where simple.
//
// Begin reading at soft_pattern for writing, at parse_pattern for reading.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/reply_format.h"

namespace parlance::response {

/// Matches `text` alone.
std::string escaped(std::string_view text);
/// Matches `text`; white space with a line end in it may be any, also none.
std::string soft_pattern(std::string_view text);
/// Matches any of the texts; the longest counts.
std::string any_pattern(const std::vector<std::string>& texts);
/// Matches one or more bytes that are no white space and none of `stops`.
std::string word_pattern(std::string_view stops);
/// Matches the longest beginning of `space` that is there.
std::string optional_space(std::string_view space);
/// The alternatives without repetition, joined: longer ones first.
std::string joined_pattern(std::vector<std::string> alternatives);

/// An element of a simple pattern.
struct Element {
  enum class Kind : std::uint8_t {
    text,
    space,   ///< white space that may be there
    group,   ///< text is the group's name
    repeat,  ///< what a group matched, once more
    skip,    ///< anything
    begin,   ///< the beginning of the reply
    ahead,   ///< what must follow; text is the pattern
  };
  Kind kind = Kind::text;
  std::string text{};
  bool operator==(const Element&) const = default;
};
using Sequence = std::vector<Element>;

/// The alternatives of a pattern, or nothing where it is more than Element can say.
std::optional<std::vector<Sequence>> parse_pattern(std::string_view pattern);

}  // namespace parlance::response
