// Begin reading at read_user_tools.
#include "cli/agent/agent_tools.h"

#include <filesystem>

#include "parlance/json_writer.h"

namespace parlance::cli {

namespace {

/// A word of a command line, in quotes.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char each : word) text += each == '\'' ? std::string(R"('"'"')") : std::string(1, each);
  return text + "'";
}

}  // namespace

void declare_user_tools(Options& app, UserToolChoice& choice) {
  app.add_option("--tools", choice.file, "A JSON file of tools with a command behind each, and of MCP servers")
      .placeholder("FILE");
  app.add_option("--mcp", choice.servers, "An MCP server that is spoken to over standard input and output")
      .placeholder("NAME=COMMAND")
      .one_value();
}

Result<agent::ToolsFile> read_user_tools(const UserToolChoice& choice, const agent::SandboxPolicy& places) {
  agent::ToolsFile file;
  if (!choice.file.empty()) {
    Result<agent::ToolsFile> read = agent::read_tools_file(choice.file, places);
    if (!read) return read.error();
    file = std::move(*read);
  }
  for (const std::string& server : choice.servers)
    if (Result<void> added = agent::add_server(file, server, places); !added) return added.error();
  return file;
}

std::string settings_of(const UserToolChoice& choice, const agent::ToolsFile& file) {
  JsonWriter servers('[');
  const std::size_t first = file.servers.size() - choice.servers.size();
  for (std::size_t at = first; at < file.servers.size(); ++at) {
    std::string text = file.servers[at].name + "=";
    for (const std::string& word : file.servers[at].command) text.append(quoted(word)).append(" ");
    servers.item_text(text);
  }
  const std::string path = choice.file.empty() ? "" : std::filesystem::absolute(choice.file).string();
  return JsonWriter('{').text("tools", path).raw("mcp", servers.take()).take();
}

void take_over(UserToolChoice& choice, Value settings) {
  if (choice.file.empty()) choice.file = whole_text(settings["tools"]);
  if (!choice.servers.empty()) return;
  for (const Value& server : settings["mcp"].items()) choice.servers.push_back(whole_text(server));
}

std::vector<AgentTool> with_user_tools(std::vector<AgentTool> own, agent::UserTools& user) {
  for (AgentTool& tool : user.tools()) own.push_back(std::move(tool));
  return own;
}

}  // namespace parlance::cli
