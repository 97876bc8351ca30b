// The tools of an agent that run in its sandbox: `terminal`, one bash, and `interpreter`, one Python.
#pragma once
#include "agent/shell/interpreter.h"
#include "agent/shell/shell.h"
#include "agent/tools/run_text.h"
#include "agent/workspace/changes.h"
#include "parlance/agent.h"

namespace parlance::agent {

/// `terminal(command, timeout)`. What it refers to must outlive it.
AgentTool terminal_tool(PersistentShell& shell, WorkspaceChanges& changes, SandboxToolOptions options);
/// `interpreter(code)`. Its results are plain: the template writes what its format puts around them.
AgentTool interpreter_tool(Interpreter& interpreter, WorkspaceChanges& changes, SandboxToolOptions options);

}  // namespace parlance::agent
