// StopFinder: ends a reply at the texts that a request names, whichever tokens they are in.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parlance/reply.h"

namespace parlance::serve {

/// Between a parser and who takes its events: content is held back while it may be the beginning of a stop text. The
/// stop text and what follows it are dropped. Reasoning and calls are passed on as they are.
class StopFinder {
 public:
  /// The texts must outlive it.
  explicit StopFinder(std::span<const std::string> stops) : stops_(stops) {}

  void add(const ReplyEvent& event, ReplySink sink);
  /// Passes on what is held back. Call it before the reply's `finish`.
  void finish(ReplySink sink);
  /// The text that ended the reply.
  const std::optional<std::string>& found() const { return found_; }

 private:
  void take_content(std::string_view text, ReplySink sink);
  void pass(std::string_view text, ReplySink sink) const;
  std::size_t held_behind(std::string_view text) const;

  std::span<const std::string> stops_;
  std::string held_;
  std::optional<std::string> found_;
};

}  // namespace parlance::serve
