// The file of `parlance agent --tools`: tools with a command behind each, and MCP servers.
//
//     {"tools": [{"type": "function", "function": {"name": …, "description": …, "parameters": {…}},
//                 "command": ["python3", "weather.py"], "timeout": 30}],
//      "mcpServers": {"files": {"command": "node", "args": ["server.js"], "env": {"DEBUG": "1"}}}}
//
// A list alone is the list of tools. What stands in `mcpServers` is what other programs have there.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "agent/mcp/server.h"
#include "agent/sandbox/policy.h"
#include "parlance/result.h"

namespace parlance::agent {

/// A tool of the user's, with a command behind it.
struct CommandToolSpec {
  std::string name;
  std::string description;
  std::string parameters;  ///< JSON Schema of an object
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< NAME=value
  double timeout = 0;                    ///< seconds; 0: the agent's own
};

struct ToolsFile {
  std::vector<CommandToolSpec> tools;
  std::vector<McpServerSpec> servers;
  /// Files that the commands name, by absolute paths: they must be readable in the sandbox. None that commands may
  /// change, or that one of their links decides about: an earlier run could open with it whatever it likes.
  std::vector<std::string> files;
  std::vector<std::string> notes;  ///< what the user should know of it, as sentences
};

/// Words of commands that name a file are made absolute: a relative one is looked for beside the tools file. A tools
/// file that commands may change (by `places`, which is checked()) makes no file readable.
/// Fails with: file; json; conversation (no list of tools, with the path of what is wrong and a hint).
Result<ToolsFile> read_tools_file(const std::string& path, const SandboxPolicy& places);

/// A server of `--mcp "NAME=COMMAND ARG…"`, whose words are separated by blanks; '…' and "…" hold words together.
/// Relative files are looked for in the current folder. Adds to `file`.
/// Fails with: usage.
Result<void> add_server(ToolsFile& file, std::string_view option, const SandboxPolicy& places);

/// Names of tools that a model can write in any format: letters, digits, `_` and `-`; others become `_`.
std::string plain_name(std::string_view name);

}  // namespace parlance::agent
