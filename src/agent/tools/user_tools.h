// UserTools: the tools that a user gives an agent besides its own: commands, and those of MCP servers, which it starts
// and ends.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tools/command_tool.h"
#include "agent/tools/run_text.h"
#include "agent/tools/tools_file.h"
#include "parlance/agent.h"

namespace parlance::agent {

struct UserToolOptions {
  SandboxToolOptions run{};
  std::string log_folder{};  ///< where servers' standard error goes, as mcp-NAME.log; "": nowhere
};

class UserTools {
 public:
  /// Starts the servers. What it refers to must outlive it.
  /// Fails with: file; usage (a name is taken; a server does not start).
  static Result<std::unique_ptr<UserTools>> open(const Sandbox& sandbox, WorkspaceChanges& changes, ToolsFile file,
                                                 UserToolOptions options);
  ~UserTools();

  /// The tools as they are now. A server's are named SERVER__TOOL.
  std::vector<AgentTool> tools();
  /// Has a server other tools than tools() gave last? Asks those that have said so, in what is left of the run's time.
  bool look_for_changes();
  /// What is wrong with the tools that servers told since this was asked last, as sentences.
  std::vector<std::string> take_warnings();
  /// What a user should know: the tools, the servers and their protocol, and those warnings.
  std::vector<std::string> facts();

 private:
  UserTools(const Sandbox& sandbox, WorkspaceChanges& changes, ToolsFile file, UserToolOptions options)
      : sandbox_(sandbox), changes_(changes), file_(std::move(file)), options_(std::move(options)) {}
  Result<void> start();
  Patience rest_of_run() const;
  AgentTool tool_of(McpServer& server, const McpTool& tool, std::string name);

  const Sandbox& sandbox_;
  WorkspaceChanges& changes_;
  const ToolsFile file_;
  const UserToolOptions options_;
  std::vector<std::unique_ptr<McpServer>> servers_;
};

}  // namespace parlance::agent
