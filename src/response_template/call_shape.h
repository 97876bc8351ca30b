// How transformers is to read the calls of one form. Begin reading at shape_of.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parlance/reply_format.h"
#include "parlance/result.h"

namespace parlance::response {

/// The content parser that reads a list of Python's calls, in transformers since 5.24.
inline constexpr std::string_view kPythonCalls = "python-call-list";

struct CallShape {
  std::vector<std::string> openers{};  ///< texts that open a call, where nothing but texts does
  std::string open{};                  ///< else: a pattern
  std::vector<std::string> closers{};  ///< texts; empty with `close` empty: nothing closes it
  std::string close{};
  std::vector<std::string> rests{};  ///< texts that may stand behind what closes it, and mean nothing
  bool close_optional = false;
  bool is_list = false;     ///< what is read is a list of calls
  std::string content{};    ///< the parser's name
  std::string arguments{};  ///< its arguments as JSON, or ""
  std::string transform{};  ///< as JSON
  /// Whether one field can read both.
  bool reads_like(const CallShape& other) const {
    return is_list == other.is_list && content == other.content && arguments == other.arguments &&
           transform == other.transform;
  }
};

/// What `form` becomes. `prompt`: what stands before a reply may be the beginning of an opener.
/// `others`: texts that open something else than a call. Adds to `losses`.
/// Fails with value (path below `path`).
Result<CallShape> shape_of(const CallForm& form, const std::string& path, const std::string& prompt,
                           const std::vector<std::string>& others, std::vector<std::string>& losses);

/// The texts, and what is left of those that begin with the whole prompt.
std::vector<std::string> without_prompt(const std::vector<std::string>& texts, const std::string& prompt);
/// Whether texts can stand in a list of literals: none has white space in it that is soft.
bool are_literal(const std::vector<std::string>& texts);

/// A failure at a field.
Error cannot_say(const std::string& path, std::string message, std::string hint = {});

}  // namespace parlance::response
