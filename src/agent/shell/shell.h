// PersistentShell: one bash in the sandbox. Its folder, variables, functions and background jobs stay from command to
// command; if it ends, another takes its place.
#pragma once
#include <memory>
#include <string>

#include "agent/shell/resident.h"

namespace parlance::agent {

struct CommandResult {
  RunResult run{};
  bool restarted = false;     ///< the shell ended, and there is a new one, without its background jobs
  bool restored = false;      ///< the new one has the variables and functions of the old one
  std::string elsewhere{};    ///< the new one's folder, where that of the old one cannot be entered any more
  std::string not_started{};  ///< the shell ended, and this is why there is no new one; the next command tries again
};

class PersistentShell {
 public:
  /// `sandbox` must outlive it. The first command starts bash.
  explicit PersistentShell(const Sandbox& sandbox);

  /// Starts bash, which the first command does otherwise. Fails with: file; usage (it does not start).
  Result<void> begin();
  /// Runs a command, which may have several lines. Its standard input is empty.
  /// Fails with: file; usage (bash does not start, so that the command was not run).
  Result<CommandResult> run(const std::string& command, const RunOptions& options);
  /// Do programs run in the background, also those that bash knows nothing of any more?
  bool has_others() const { return bash_ && bash_->has_others(); }
  /// Has another bash taken the place of the first one? It may have functions and aliases that nobody was asked about.
  bool was_replaced() const { return shells_ > 1; }

 private:
  /// Starts bash, and says what it has of the last one.
  Result<void> start(CommandResult& result, bool restores_saved);

  const Sandbox& sandbox_;
  std::unique_ptr<Resident> bash_;
  std::string folder_;
  unsigned shells_ = 0;    ///< that have started
  bool was_lost_ = false;  ///< the last one ended, and no other has started
};

}  // namespace parlance::agent
