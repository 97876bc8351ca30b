// Asks the user of `parlance agent` before commands run.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "parlance/agent.h"

namespace parlance::cli {

/// Is there a terminal?
bool can_ask();
/// Is it a shell command that only looks? It errs on the other side: whatever it does not know may write.
bool only_reads(std::string_view command);
/// Does the shell stay as it was, so that names of commands stand for the same programs? It errs on the other side,
/// too.
bool keeps_shell(std::string_view command);

/// The signals that come while a question waits for its answer.
struct QuestionSignals {
  int descriptor = -1;               ///< can be read once there was one
  std::function<void()> clear{};     ///< forgets those that end nothing
  std::function<bool()> want_end{};  ///< was there one that ends the agent?
};

class Approver {
 public:
  /// "never", "writes": before commands that may write, "always". `shell_was_replaced` says whether another shell has
  /// taken the place of the first one.
  Approver(std::string when, std::function<bool()> shell_was_replaced, QuestionSignals signals)
      : when_(std::move(when)), shell_was_replaced_(std::move(shell_was_replaced)), signals_(std::move(signals)) {}

  /// Asks on the terminal, not on standard input. Without a terminal nothing is allowed that would be asked for. A
  /// signal that ends the agent, and the end of the terminal, are no answer: they stop the run, and the call stays
  /// open.
  Approval ask(std::string_view name, std::string_view arguments);
  /// Asks what to do with a call whose end nobody knows; without a terminal the model is told.
  Resolution resolve(const InterruptedCall& call) const;

 private:
  std::string when_;
  std::function<bool()> shell_was_replaced_;
  QuestionSignals signals_;
  bool shell_may_differ_ = false;  ///< from the one that it was at the start
};

}  // namespace parlance::cli
