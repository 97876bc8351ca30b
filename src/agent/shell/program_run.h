// Runs a program once in a sandbox of its own: the command behind a tool of the user's. All that it has started ends
// with it.
#pragma once
#include <string>
#include <vector>

#include "agent/sandbox/sandbox.h"
#include "agent/shell/resident.h"

namespace parlance::agent {

struct Program {
  std::vector<std::string> command{};      ///< looked for in PATH
  std::vector<std::string> environment{};  ///< NAME=value, besides the sandbox's
  std::string folder{};                    ///< where it starts; "": the workspace
  std::string home{};                      ///< of Sandbox::home_of(); "": that of commands
  std::string input{};                     ///< its standard input
};

/// The program and its words for a Launch: it is looked for in the sandbox's PATH.
std::vector<std::string> looked_up(const std::vector<std::string>& command);
/// The sandbox's environment with this home, which may be "", and what else is given.
std::vector<std::string> environment_with(const Sandbox& sandbox, const std::string& home,
                                          const std::vector<std::string>& more);

/// A program that is over its time, or cancelled, gets SIGINT, then SIGTERM, then SIGKILL.
/// Fails with: file.
Result<RunResult> run_program(const Sandbox& sandbox, const Program& program, const RunOptions& options);

}  // namespace parlance::agent
