// The protocol's messages. Begin reading at McpServer::open.
#include "agent/mcp/server.h"

#include <algorithm>
#include <array>

#include "agent/mcp/result_text.h"
#include "agent/shell/program_run.h"
#include "base/utf8.h"
#include "parlance/json_writer.h"
#include "parlance/version.h"

namespace parlance::agent {

namespace {

constexpr std::array<std::string_view, 4> kRevisions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view kWithoutHandshake = "2026-07-28";

constexpr int kMostStarts = 4;
constexpr int kMostPages = 64;
constexpr std::size_t kMostRevision = 40;  // bytes
constexpr double kToList = 30;             // seconds

std::string client_info() { return JsonWriter('{').text("name", "parlance").text("version", PARLANCE_VERSION).take(); }

/// What a server has said before it ended.
std::string last_words(const McpSession& session) {
  std::string text = session.process().last_errors();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.empty() && session.garbage() > 0) text = "on standard output, no message: " + session.first_garbage();
  constexpr std::size_t kMost = 1500;
  if (text.size() > kMost) text = "… " + std::string(utf8::whole_suffix(text, kMost));
  return text;
}

}  // namespace

McpServer::McpServer(const Sandbox& sandbox, McpServerSpec spec, std::function<void(std::string_view)> log)
    : sandbox_(sandbox), spec_(std::move(spec)), log_(std::move(log)) {}

McpServer::~McpServer() {
  if (session_) session_->process().close();
}

void McpServer::begin_close() {
  if (session_) session_->process().begin_close();
}

std::vector<std::string> McpServer::take_notes() {
  return session_ ? session_->process().take_notes() : std::vector<std::string>();
}

Error McpServer::failure(const std::string& what) {
  std::string text = "the MCP server " + spec_.name + " " + what;
  const std::string said = session_ ? last_words(*session_) : std::string();
  if (!said.empty()) text += "; it said: " + said;
  return Error(ErrorCode::usage, text)
      .hint("it runs in the sandbox: --readable shows it folders, --network lets it use the network");
}

Result<void> McpServer::open() {
  ++starts_;
  const Result<std::string> home = sandbox_.home_of("server-" + spec_.name);
  if (!home) return home.error();
  Launch launch;
  launch.home = *home;
  launch.command = looked_up(spec_.command);
  launch.environment = environment_with(sandbox_, *home, spec_.environment);
  launch.folder = spec_.folder.empty() ? sandbox_.policy().workspace : spec_.folder;
  Result<std::unique_ptr<LineProcess>> process = LineProcess::start(sandbox_, launch, log_);
  if (!process) return process.error();
  session_ = std::make_unique<McpSession>(std::move(*process));
  return {};
}

Result<void> McpServer::start(const Patience& most) {
  if (Result<void> opened = open(); !opened) return opened;
  const Patience patience = most.at_most(spec_.start_timeout);
  const Result<void> greeted = shake_hands(patience);
  Result<ToolList> told = greeted ? list(patience) : Result<ToolList>(greeted.error());
  if (told)
    take(std::move(*told));
  else
    session_->process().close();
  return told ? Result<void>() : told.error();
}

void McpServer::take(ToolList told) {
  tools_ = told.take();
  warnings_ = told.warnings(spec_.name);
  if (!has_tools_) warnings_.push_back("the MCP server " + spec_.name + " says that it has no tools");
}

Result<void> McpServer::shake_hands(const Patience& patience) {
  const std::string parameters = JsonWriter('{')
                                     .text("protocolVersion", kRevisions[0])
                                     .raw("capabilities", "{}")
                                     .raw("clientInfo", client_info())
                                     .take();
  has_handshake_ = has_tools_ = true;
  const McpAnswer answer = session_->request("initialize", parameters, patience);
  if (answer.end != LineEnd::none) return failure("does not start: " + answer.reason());
  if (!answer.is_result()) return discover(patience, answer.reason());
  revision_ = utf8::whole_prefix(whole_text(answer.result()["protocolVersion"]), kMostRevision);
  if (std::find(kRevisions.begin(), kRevisions.end(), revision_) == kRevisions.end())
    return failure("speaks the protocol's revision '" + revision_ + "', which is not known here").hint("");
  session_->notify("notifications/initialized");
  has_tools_ = !answer.result()["capabilities"]["tools"].is_undefined();
  return {};
}

/// A server that refuses the handshake may be of a revision without one.
Result<void> McpServer::discover(const Patience& patience, const std::string& refusal) {
  has_handshake_ = false;
  const McpAnswer answer = session_->request("server/discover", with_metadata("{}"), patience);
  bool is_known = false;
  if (answer.is_result())
    for (const Value& one : answer.result()["supportedVersions"].items())
      is_known = is_known || one.text() == kWithoutHandshake;
  if (!is_known) return failure("refuses to begin: " + refusal).hint("");
  revision_ = kWithoutHandshake;
  return {};
}

/// Without a handshake each request says who asks.
std::string McpServer::with_metadata(const std::string& parameters) const {
  if (has_handshake_) return parameters;
  Document given;
  JsonWriter made('{');
  if (given.parse(parameters))
    for (const DictEntry& member : given.root().members()) made.raw(member.key.text(), json_text(member.value));
  const std::string prefix = "io.modelcontextprotocol/";
  return made
      .raw("_meta", JsonWriter('{')
                        .text(prefix + "protocolVersion", kWithoutHandshake)
                        .raw(prefix + "clientCapabilities", "{}")
                        .raw(prefix + "clientInfo", client_info())
                        .take())
      .take();
}

Result<ToolList> McpServer::list(const Patience& patience) {
  ToolList all;
  std::string cursor;
  for (int page = 0; page < kMostPages; ++page) {
    JsonWriter parameters('{');
    if (!cursor.empty()) parameters.text("cursor", cursor);
    const McpAnswer answer = session_->request("tools/list", with_metadata(parameters.take()), patience);
    const bool is_refused = answer.end == LineEnd::none && !answer.is_result();
    if (is_refused && !has_tools_) break;
    if (!answer.is_result()) return failure("does not tell its tools: " + answer.reason());
    const auto tools = answer.result()["tools"].items();
    const bool has_room = std::all_of(tools.begin(), tools.end(), [&all](const Value& tool) { return all.add(tool); });
    const std::string next = whole_text(answer.result()["nextCursor"]);
    if (!has_room || next.empty() || next == cursor) break;
    cursor = next;
  }
  return all;
}

bool McpServer::look_for_changes(const Patience& patience) {
  if (session_ && !session_->process().is_over()) {
    session_->read_along(patience);
    if (session_->take_changed()) {
      Result<ToolList> told = list(patience.at_most(kToList));
      changed_ = changed_ || told;
      if (told)
        take(std::move(*told));
      else
        warnings_ = {"the tools stay as they were: " + told.error().message()};
    }
  }
  return std::exchange(changed_, false);
}

McpOutcome McpServer::failed_call(const McpAnswer& answer) {
  McpOutcome outcome{.text = "Error: " + answer.reason()};
  if (answer.end == LineEnd::none) return outcome;
  outcome.cut_off = true;
  outcome.text = "Error: no result of the MCP server " + spec_.name + ": " + answer.reason();
  if (session_->process().is_over()) {
    session_->process().close();
    if (const auto status = session_->process().status()) outcome.text += ", exit status " + std::to_string(*status);
  }
  const bool says_why = session_->process().is_over() || session_->garbage() > 0;
  if (const std::string said = last_words(*session_); says_why && !said.empty()) outcome.text += "; it said: " + said;
  outcome.text += "\n[It is not known whether the call was carried out.]";
  return outcome;
}

McpOutcome McpServer::call(const std::string& tool, const std::string& arguments, const Patience& patience) {
  std::string restarted;
  if (session_) session_->read_along(patience);  // has it ended meanwhile?
  if (!session_ || session_->process().is_over()) {
    if (starts_ >= kMostStarts)
      return {.text = "Error: the MCP server " + spec_.name + " has ended " + std::to_string(starts_) +
                      " times, and is not started again"};
    if (session_) session_->process().close();
    if (Result<void> started = start(patience); !started) return {.text = "Error: " + started.error().message()};
    changed_ = true;
    restarted = "\n[The MCP server had ended, and was started again: what it kept in memory is gone.]";
  }
  const std::string parameters = JsonWriter('{').text("name", tool).raw("arguments", arguments).take();
  const McpAnswer answer = session_->request("tools/call", with_metadata(parameters), patience);
  if (!answer.is_result()) return failed_call(answer);
  const Value result = answer.result();
  if (result["resultType"].text() == "input_required")
    return {.text = "Error: the tool asks for something that nobody can give here"};
  const bool is_error = result["isError"].is(Kind::boolean) && result["isError"].integer != 0;
  return {.text = (is_error ? "Error: " : "") + text_of_result(result) + restarted, .succeeded = !is_error};
}

}  // namespace parlance::agent
