// The user's tools for `parlance agent`: its options --tools and --mcp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "agent/tools/user_tools.h"
#include "cli/options/options.h"
#include "parlance/agent.h"
#include "parlance/value.h"

namespace parlance::cli {

struct UserToolChoice {
  std::string file;                  ///< --tools
  std::vector<std::string> servers;  ///< --mcp
};

void declare_user_tools(Options& app, UserToolChoice& choice);
/// Reads the file and the servers. `places`: what commands may change, checked(). Fails as read_tools_file() and
/// add_server() do.
Result<agent::ToolsFile> read_user_tools(const UserToolChoice& choice, const agent::SandboxPolicy& places);

/// For a transcript, with absolute paths: {"tools": …, "mcp": […]}.
std::string settings_of(const UserToolChoice& choice, const agent::ToolsFile& file);
/// What a transcript says, where the command line says nothing.
void take_over(UserToolChoice& choice, Value settings);

/// The agent's own tools, and the user's as they are now.
std::vector<AgentTool> with_user_tools(std::vector<AgentTool> own, agent::UserTools& user);

}  // namespace parlance::cli
