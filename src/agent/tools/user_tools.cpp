// Begin reading at UserTools::tools.
#include "agent/tools/user_tools.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "agent/shell/output_files.h"
#include "agent/tools/own_tools.h"

namespace parlance::agent {

namespace {

constexpr std::uint64_t kMostLog = 4 << 20;  // bytes of one server's standard error that are kept
constexpr std::size_t kMostName = 64;        // bytes: what the APIs of other engines take
constexpr double kWithoutLimit = 1e6;        // seconds of a run: a server has shorter limits

/// A file that does not grow without end.
class Log {
 public:
  explicit Log(const std::string& path)
      : file_(std::make_shared<Descriptor>(
            ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600))) {}

  void operator()(std::string_view bytes) {
    bytes = bytes.substr(0, kMostLog - std::min(kMostLog, *written_));
    while (*file_ && !bytes.empty()) {
      const ssize_t size = ::write(file_->get(), bytes.data(), bytes.size());
      if (size <= 0) return;
      *written_ += static_cast<std::uint64_t>(size);
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }

 private:
  std::shared_ptr<Descriptor> file_;
  std::shared_ptr<std::uint64_t> written_ = std::make_shared<std::uint64_t>(0);
};

/// A name that no other has.
std::string free_name(std::string name, const std::vector<std::string>& taken) {
  name.resize(std::min(name.size(), kMostName));
  std::string made = name;
  for (int number = 2; std::find(taken.begin(), taken.end(), made) != taken.end(); ++number) {
    const std::string ending = "_" + std::to_string(number);
    made = name.substr(0, kMostName - ending.size()) + ending;
  }
  return made;
}

}  // namespace

Result<std::unique_ptr<UserTools>> UserTools::open(const Sandbox& sandbox, WorkspaceChanges& changes, ToolsFile file,
                                                   UserToolOptions options) {
  std::unique_ptr<UserTools> made(new UserTools(sandbox, changes, std::move(file), std::move(options)));
  if (Result<void> started = made->start(); !started) return started.error();
  return made;
}

UserTools::~UserTools() {
  for (const auto& server : servers_) server->begin_close();
}

Patience UserTools::rest_of_run() const {
  return Patience::seconds(options_.run.remaining ? options_.run.remaining() : kWithoutLimit, options_.run.cancel);
}

Result<void> UserTools::start() {
  for (const CommandToolSpec& tool : file_.tools) {
    if (is_own_tool(tool.name))
      return Error(ErrorCode::usage, "the agent itself has a tool named " + tool.name).hint("rename yours");
  }
  if (!file_.servers.empty()) changes_.add_others([] { return true; });  // a server may write at any time
  for (const McpServerSpec& spec : file_.servers) {
    std::function<void(std::string_view)> log;
    if (!options_.log_folder.empty()) log = Log(options_.log_folder + "/mcp-" + spec.name + ".log");
    servers_.push_back(std::make_unique<McpServer>(sandbox_, spec, std::move(log)));
    if (Result<void> started = servers_.back()->start(rest_of_run()); !started) return started;
  }
  return {};
}

AgentTool UserTools::tool_of(McpServer& server, const McpTool& tool, std::string name) {
  const auto run = [this, &server, tool](std::string_view given) -> Result<ToolOutcome> {
    const Result<std::string> arguments = fitting_arguments(tool.parameters, given);
    if (!arguments) return arguments.error();
    const double wished = server.spec().timeout > 0 ? server.spec().timeout : options_.run.timeout;
    const Patience patience = Patience::seconds(seconds_for(options_.run, wished), options_.run.cancel);
    changes_.before_command();
    const McpOutcome outcome = server.call(tool.name, *arguments, patience);
    Capture text = OutputFiles(sandbox_).capture(options_.run.output, ".out");
    text.add(outcome.text);
    ToolOutcome made{.text = text.finish().text, .succeeded = outcome.succeeded};
    while (!made.text.empty() && made.text.back() == '\n') made.text.pop_back();
    if (made.text.empty()) made.text = "(no output)";
    add_sentences(made.text, server.take_notes());
    const std::vector<std::string> changed = changes_.after_command(outcome.succeeded);
    made.changed = !changed.empty() || outcome.cut_off;
    made.maybe_changed = made.changed && !WorkspaceChanges::are_sure(changed);
    made.changes = changes_.names_of(changed);
    return made;
  };
  return {.name = std::move(name), .description = tool.description, .parameters = tool.parameters, .run = run};
}

std::vector<AgentTool> UserTools::tools() {
  std::vector<AgentTool> all;
  std::vector<std::string> taken;
  for (const OwnTool& own : kOwnTools) taken.emplace_back(own.name);
  const auto add = [&all, &taken](AgentTool tool) {
    taken.push_back(tool.name);
    all.push_back(std::move(tool));
  };
  for (const CommandToolSpec& spec : file_.tools) add(command_tool(sandbox_, changes_, spec, options_.run));
  for (const auto& server : servers_)
    for (const McpTool& tool : server->tools())
      add(tool_of(*server, tool, free_name(plain_name(server->spec().name + "__" + tool.name), taken)));
  return all;
}

bool UserTools::look_for_changes() {
  bool found = false;
  for (const auto& server : servers_) found = server->look_for_changes(rest_of_run()) || found;
  return found;
}

std::vector<std::string> UserTools::take_warnings() {
  std::vector<std::string> all;
  for (const auto& server : servers_)
    for (std::string& warning : server->take_warnings()) all.push_back(std::move(warning));
  return all;
}

std::vector<std::string> UserTools::facts() {
  std::vector<std::string> facts = file_.notes;
  std::string names;
  for (const CommandToolSpec& tool : file_.tools) names.append(names.empty() ? "" : ", ").append(tool.name);
  if (!names.empty()) facts.push_back("tools: " + names);
  for (const auto& server : servers_) {
    facts.push_back("MCP server " + server->spec().name + ", revision " + server->revision() + ": " +
                    std::to_string(server->tools().size()) + " tools");
  }
  for (std::string& warning : take_warnings()) facts.push_back(std::move(warning));
  return facts;
}

}  // namespace parlance::agent
