// Begin reading at read_tools_file.
#include "agent/tools/tools_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "agent/sandbox/places.h"
#include "parlance/agent.h"
#include "parlance/json.h"

namespace parlance::agent {

namespace {

constexpr std::size_t kMostFile = 8 << 20;  // bytes
constexpr double kMostTimeout = 86400;      // seconds

constexpr std::array<std::string_view, 9> kToolMembers = {"type",   "function", "name",    "description", "parameters",
                                                          "strict", "command",  "timeout", "env"};

constexpr const char* kToolHint =
    R"(a tool is {"type": "function", "function": {"name": …, "description": …, "parameters": {…}}, "command": )"
    R"(["python3", "weather.py"]})";
constexpr const char* kServerHint =
    R"(a server is {"command": "node", "args": ["server.js"], "env": {"NAME": "value"}})";

/// What is read of a file, and where it stands.
struct FilePlace {
  const std::string& file;
  std::string path;

  FilePlace in(const std::string& member) const { return {file, path.empty() ? member : path + "." + member}; }
  Error wrong(const std::string& what, const char* hint) const {
    return Error(ErrorCode::conversation, file + ": " + what).input(path).hint(hint);
  }
};

/// Files of commands, which are looked for in a folder.
struct Finder {
  std::filesystem::path folder;
  std::vector<std::string>& found;
  const SandboxPolicy& places;
  bool gives_rights = true;

  std::string word(const std::string& given, bool is_program) const {
    if (given.empty() || given.front() == '-' || (is_program && given.find('/') == given.npos)) return given;
    std::error_code failed;
    const std::filesystem::path path = (folder / given).lexically_normal();
    if (!std::filesystem::is_regular_file(path, failed)) return given;
    // A program that is a link may look at its own name, as the Python of a virtual environment does.
    if (is_program && std::filesystem::is_symlink(path, failed)) return path.string();
    const std::string file = std::filesystem::canonical(path, failed).string();
    if (gives_rights && !leads_over_theirs(places, path.string())) found.push_back(file);
    return file;
  }
  std::vector<std::string> words(std::vector<std::string> given) const {
    for (std::size_t at = 0; at < given.size(); ++at) given[at] = word(given[at], at == 0);
    return given;
  }
};

Result<std::vector<std::string>> texts_of(Value list, const FilePlace& at, const char* hint) {
  std::vector<std::string> texts;
  for (const Value& item : list.items()) {
    if (!item.is_string()) return at.wrong("every word must be a string", hint);
    texts.push_back(whole_text(item));
  }
  const bool has_end = std::any_of(texts.begin(), texts.end(),
                                   [](const std::string& one) { return one.find('\0') != std::string::npos; });
  if (!list.is_sequence() || has_end) return at.wrong("this must be a list of strings", hint);
  return texts;
}

Result<std::vector<std::string>> environment_in(Value value, const FilePlace& at, const char* hint) {
  std::vector<std::string> variables;
  if (value.is_undefined() || value.is_none()) return variables;
  if (!value.is(Kind::dict)) return at.wrong("this must be an object of strings", hint);
  for (const DictEntry& member : value.members()) {
    const std::string name = whole_text(member.key), text = whole_text(member.value);
    if (name.empty() || !member.value.is_string() || (name + text).find('\0') != std::string::npos ||
        name.find('=') != std::string::npos)
      return at.in(name).wrong("a variable must be a string", hint);
    variables.push_back(name + "=" + text);
  }
  return variables;
}

Result<double> seconds_in(Value value, const FilePlace& at, const char* hint) {
  if (value.is_undefined()) return 0.0;
  const double seconds = value.is_small_int()   ? static_cast<double>(value.integer)
                         : value.is(Kind::real) ? value.real
                                                : -1.0;
  if (seconds > 0 && seconds <= kMostTimeout) return seconds;
  return at.wrong("this must be a number of seconds, up to 86400", hint);
}

Result<void> check_members(Value entry, const FilePlace& at) {
  if (!entry.is(Kind::dict)) return at.wrong("a tool must be an object", kToolHint);
  for (const DictEntry& member : entry.members()) {
    const std::string name = whole_text(member.key);
    if (std::find(kToolMembers.begin(), kToolMembers.end(), name) == kToolMembers.end())
      return at.in(name).wrong("a tool has no such member", kToolHint);
  }
  return {};
}

/// What the model learns of it.
Result<CommandToolSpec> function_in(Value entry, const FilePlace& entry_at) {
  const bool has_own = entry["function"].is(Kind::dict);
  const Value function = has_own ? entry["function"] : entry;
  const FilePlace at = has_own ? entry_at.in("function") : entry_at;
  CommandToolSpec tool{.name = whole_text(function["name"]), .description = whole_text(function["description"])};
  if (tool.name.empty() || tool.name != plain_name(tool.name))
    return at.in("name").wrong("a tool's name has letters, digits, _ and - alone, at most 64", kToolHint);
  const Value schema = function["parameters"];
  if (!schema.is(Kind::dict) && !schema.is_undefined())
    return at.in("parameters").wrong("this must be a JSON Schema, an object", kToolHint);
  tool.parameters = schema.is(Kind::dict) ? json_text(schema) : std::string(kNoParameters);
  if (!is_object_schema(tool.parameters))
    return at.in("parameters").in("type").wrong("arguments are an object", kToolHint);
  return tool;
}

Result<CommandToolSpec> tool_in(Value entry, const FilePlace& at, const Finder& finder) {
  if (Result<void> fine = check_members(entry, at); !fine) return fine.error();
  Result<CommandToolSpec> tool = function_in(entry, at);
  if (!tool) return tool.error();
  Result<std::vector<std::string>> command = texts_of(entry["command"], at.in("command"), kToolHint);
  if (!command) return command.error();
  if (command->empty() || command->front().empty())
    return at.in("command").wrong("the first word must be a program", kToolHint);
  tool->command = finder.words(std::move(*command));
  Result<std::vector<std::string>> environment = environment_in(entry["env"], at.in("env"), kToolHint);
  if (!environment) return environment.error();
  tool->environment = std::move(*environment);
  const Result<double> timeout = seconds_in(entry["timeout"], at.in("timeout"), kToolHint);
  if (!timeout) return timeout.error();
  tool->timeout = *timeout;
  return tool;
}

Result<McpServerSpec> server_in(const std::string& name, Value entry, const FilePlace& at, const Finder& finder) {
  if (!entry.is(Kind::dict)) return at.wrong("a server must be an object", kServerHint);
  const std::string type = whole_text(entry["type"]);
  if ((!type.empty() && type != "stdio") || !entry["url"].is_undefined())
    return at.wrong("this server is not started by a command: only stdio can be had", kServerHint);
  McpServerSpec server{.name = plain_name(name)};
  const std::string program = whole_text(entry["command"]);
  if (program.empty()) return at.in("command").wrong("a server needs a program", kServerHint);
  std::vector<std::string> words{program};
  if (!entry["args"].is_undefined()) {
    const Result<std::vector<std::string>> more = texts_of(entry["args"], at.in("args"), kServerHint);
    if (!more) return more.error();
    words.insert(words.end(), more->begin(), more->end());
  }
  server.command = finder.words(std::move(words));
  Result<std::vector<std::string>> environment = environment_in(entry["env"], at.in("env"), kServerHint);
  if (!environment) return environment.error();
  server.environment = std::move(*environment);
  const Value folder = entry["cwd"];
  if (!folder.is_undefined() && !folder.is_string())
    return at.in("cwd").wrong("a server's folder must be a string", kServerHint);
  if (const std::string given = whole_text(folder); !given.empty())
    server.folder = (finder.folder / given).lexically_normal().string();
  for (const auto& [member, into] :
       {std::pair{"timeout", &server.timeout}, std::pair{"start_timeout", &server.start_timeout}}) {
    const Result<double> seconds = seconds_in(entry[member], at.in(member), kServerHint);
    if (!seconds) return seconds.error();
    if (*seconds > 0) *into = *seconds;
  }
  return server;
}

Result<void> check_server_name(const ToolsFile& file, const McpServerSpec& server) {
  if (server.name.empty()) return Error(ErrorCode::usage, "an MCP server has no name");
  for (const McpServerSpec& other : file.servers)
    if (other.name == server.name)
      return Error(ErrorCode::usage, "two MCP servers are named " + server.name).hint("give one of them another name");
  return {};
}

Result<void> add_tools(ToolsFile& file, Value list, const FilePlace& at, const Finder& finder) {
  if (!list.is_sequence()) return at.wrong("the tools must be a list", kToolHint);
  for (std::size_t number = 0; number < list.items().size(); ++number) {
    const FilePlace there{at.file, at.path + "[" + std::to_string(number) + "]"};
    Result<CommandToolSpec> tool = tool_in(list.items()[number], there, finder);
    if (!tool) return tool.error();
    for (const CommandToolSpec& other : file.tools)
      if (other.name == tool->name) return there.wrong("two tools are named " + tool->name, kToolHint);
    file.tools.push_back(std::move(*tool));
  }
  return {};
}

Result<void> add_servers(ToolsFile& file, Value servers, const FilePlace& at, const Finder& finder) {
  if (!servers.is(Kind::dict)) return at.wrong("the servers must be an object", kServerHint);
  for (const DictEntry& member : servers.members()) {
    const Value disabled = member.value["disabled"];
    if (disabled.is(Kind::boolean) && disabled.integer != 0) continue;
    const std::string name = whole_text(member.key);
    Result<McpServerSpec> server = server_in(name, member.value, at.in(name), finder);
    if (!server) return server.error();
    if (Result<void> fine = check_server_name(file, *server); !fine) return fine;
    file.servers.push_back(std::move(*server));
  }
  return {};
}

Result<std::string> text_of_file(const std::string& path) {
  std::error_code failed;
  std::ifstream input(path, std::ios::binary);
  if (!input || std::filesystem::is_directory(path, failed))
    return Error(ErrorCode::file, path + ": this file of tools cannot be read");
  std::string text(kMostFile + 1, '\0');  // it may be a device, that has no end
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  if (text.size() > kMostFile) return Error(ErrorCode::file, path + ": a file of tools has at most 8 MiB");
  return text;
}

/// The words of a command line.
Result<std::vector<std::string>> split(std::string_view text) {
  std::vector<std::string> words;
  char quote = 0;
  bool open = false;
  for (const char each : text) {
    const bool is_blank = each == ' ' || each == '\t' || each == '\n';
    if (quote == 0 && is_blank) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (quote == 0 && (each == '\'' || each == '"'))
      quote = each;
    else if (quote == each)
      quote = 0;
    else
      words.back() += each;
  }
  if (quote != 0) return Error(ErrorCode::usage, "--mcp: a quote is not closed");
  return words;
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain(name.substr(0, 64));
  for (char& each : plain) {
    const bool is_plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                          (each >= '0' && each <= '9') || each == '_' || each == '-';
    if (!is_plain) each = '_';
  }
  return plain;
}

Result<ToolsFile> read_tools_file(const std::string& path, const SandboxPolicy& places) {
  const Result<std::string> text = text_of_file(path);
  if (!text) return text.error();
  Document document;
  if (Result<void> parsed = document.parse(*text, path); !parsed) return parsed.error();
  const Value root = document.root();
  ToolsFile file;
  std::error_code failed;
  const bool is_ours = !leads_over_theirs(places, path);
  if (!is_ours) file.notes.push_back(path + ": commands may change this file of tools, so it makes no file readable");
  const Finder finder{std::filesystem::absolute(path, failed).parent_path(), file.files, places, is_ours};
  if (root.is_sequence()) {
    if (Result<void> added = add_tools(file, root, {path, ""}, finder); !added) return added.error();
    return file;
  }
  bool has_some = false;
  if (!root["tools"].is_undefined()) {
    has_some = true;
    if (Result<void> added = add_tools(file, root["tools"], {path, "tools"}, finder); !added) return added.error();
  }
  for (const char* member : {"mcpServers", "servers"}) {
    if (root[member].is_undefined()) continue;
    has_some = true;
    if (Result<void> added = add_servers(file, root[member], {path, member}, finder); !added) return added.error();
  }
  if (!has_some) return FilePlace{path, ""}.wrong("this has neither a list of tools nor mcpServers", kToolHint);
  return file;
}

Result<void> add_server(ToolsFile& file, std::string_view option, const SandboxPolicy& places) {
  constexpr const char* kHint = "--mcp \"files=node server.js /srv/data\"";
  const std::size_t at = option.find('=');
  if (at == option.npos || at == 0)
    return Error(ErrorCode::usage, "--mcp has a name and a command: " + std::string(option)).hint(kHint);
  Result<std::vector<std::string>> words = split(option.substr(at + 1));
  if (!words) return words.error();
  if (words->empty()) return Error(ErrorCode::usage, "--mcp has no command: " + std::string(option)).hint(kHint);
  McpServerSpec server{.name = plain_name(option.substr(0, at))};
  std::error_code failed;
  server.command = Finder{std::filesystem::current_path(failed), file.files, places}.words(std::move(*words));
  if (Result<void> fine = check_server_name(file, server); !fine) return fine;
  file.servers.push_back(std::move(server));
  return {};
}

}  // namespace parlance::agent
