// TrustedPath: a path into the input that was given on purpose: messages[0].content, messages[*].content,
// messages[assistant].content, tools.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/render.h"
#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance {

class TrustedPath {
 public:
  /// Fails with usage for what is no path: brackets that do not close, empty names, a number that is none.
  static Result<TrustedPath> parse(std::string_view path);
  /// Is `path`, of a place in a message of this role, this one or inside of it?
  bool covers(std::string_view path, std::string_view role) const;
  /// Why the variables of a request have nothing there, with the nearest name: ": did you mean 'messages'?"; nothing if
  /// they have.
  std::optional<std::string> missing_in(Value variables) const;
  /// Fails with usage where that is no accident: unless the path goes into [*] or into what is none, it should lead
  /// somewhere; and a name that is near to another is misspelt. Of a request that grows, items may follow.
  Result<void> check_spelling(Value variables, bool grows) const;
  const std::string& text() const { return text_; }

 private:
  bool covers_part(std::size_t at, std::string_view part, std::string_view role) const;

  std::string text_;
  std::vector<std::string> parts_;  ///< as they stand: messages, [*], [assistant], .content
};

/// The role of the message that a span is of; "" if it is of none.
std::string_view role_of_span(const Conversation& conversation, const Span& span);

Result<std::vector<TrustedPath>> parse_trusted_paths(const std::vector<std::string>& paths);

}  // namespace parlance
