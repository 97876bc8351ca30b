// A tool of the user's: a command that gets the arguments on its standard input, and whose standard output is the
// result.
#pragma once
#include "agent/sandbox/sandbox.h"
#include "agent/tools/run_text.h"
#include "agent/tools/tools_file.h"
#include "agent/workspace/changes.h"
#include "parlance/agent.h"

namespace parlance::agent {

/// What it refers to must outlive it.
AgentTool command_tool(const Sandbox& sandbox, WorkspaceChanges& changes, const CommandToolSpec& spec,
                       const SandboxToolOptions& options);

}  // namespace parlance::agent
