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

class Approver {
 public:
  /// "never", "writes": before commands that may write, "always". `shell_was_replaced` says whether another shell has
  /// taken the place of the first one.
  Approver(std::string when, std::function<bool()> shell_was_replaced)
      : when_(std::move(when)), shell_was_replaced_(std::move(shell_was_replaced)) {}

  /// Asks on the terminal, not on standard input. Without a terminal nothing is allowed that would be asked for.
  Approval ask(std::string_view name, std::string_view arguments);
  /// Asks what to do with a call whose end nobody knows; without a terminal the model is told.
  Resolution resolve(const InterruptedCall& call) const;

 private:
  std::string when_;
  std::function<bool()> shell_was_replaced_;
  bool shell_may_differ_ = false;  ///< from the one that it was at the start
};

}  // namespace parlance::cli
