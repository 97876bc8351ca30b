// StopFinder: ends a reply at the texts that a request names, whichever tokens they are in.
#pragma once
#include "parlance/reply.h"
#include "serve/turn/characters.h"

namespace parlance::serve {

/// Between a parser and who takes its events: content is held back while it may be the beginning of a stop text. The
/// stop text and what follows it are dropped. Reasoning and calls are passed on as they are.
class StopFinder {
 public:
  /// The texts must outlive it.
  explicit StopFinder(std::span<const std::string> stops) : stops_(stops), texts_(stops) {}

  void add(const ReplyEvent& event, ReplySink sink);
  /// Passes on what is held back, at the end.
  void finish(ReplySink sink);
  /// The text that ended the reply.
  const std::optional<std::string>& found() const { return texts_.found(); }

 private:
  static void pass(std::string_view text, ReplySink sink);

  std::span<const std::string> stops_;
  StopTexts texts_;
};

}  // namespace parlance::serve
