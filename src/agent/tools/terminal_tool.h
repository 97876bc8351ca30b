// The tools of an agent that run in its sandbox: `terminal`, one bash, and `interpreter`, one Python.
#pragma once
#include <functional>
#include <string_view>

#include "agent/shell/interpreter.h"
#include "agent/shell/shell.h"
#include "agent/workspace/changes.h"
#include "parlance/agent.h"

namespace parlance::agent {

struct SandboxToolOptions {
  double timeout = 120;                 ///< seconds, where a call names none
  std::function<double()> remaining{};  ///< seconds that are left of the whole run; null: no limit
  double longest = 3600;                ///< that a call may name
  OutputLimits output{};
  std::function<void(Stream, std::string_view)> on_output{};
  int cancel = -1;  ///< a descriptor; what runs is interrupted when it can be read
};

/// `terminal(command, timeout)`. What it refers to must outlive it.
AgentTool terminal_tool(PersistentShell& shell, WorkspaceChanges& changes, SandboxToolOptions options);
/// `interpreter(code)`. Its results are plain: the template writes what its format puts around them.
AgentTool interpreter_tool(Interpreter& interpreter, WorkspaceChanges& changes, SandboxToolOptions options);

}  // namespace parlance::agent
