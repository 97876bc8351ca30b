// PersistentShell: one bash in the sandbox. Its folder, variables, functions and background jobs stay from command to
// command; if it ends, another takes its place.
#pragma once
#include <memory>
#include <string>

#include "agent/shell/resident.h"

namespace parlance::agent {

struct CommandResult {
  RunResult run{};
  bool restarted = false;  ///< the shell ended, and there is a new one: background jobs and its variables may be gone
  bool restored = false;   ///< the new one has the variables and functions of the old one
};

class PersistentShell {
 public:
  /// `sandbox` must outlive it. The first command starts bash.
  explicit PersistentShell(const Sandbox& sandbox);

  /// Runs a command, which may have several lines. Its standard input is empty.
  /// Fails with: file; usage (bash does not start).
  Result<CommandResult> run(const std::string& command, const RunOptions& options);

 private:
  /// Starts bash. Has it what the last one left?
  Result<bool> start();

  const Sandbox& sandbox_;
  std::unique_ptr<Resident> bash_;
  std::string folder_;
};

}  // namespace parlance::agent
