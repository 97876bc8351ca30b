// The protocol's messages. Begin reading at McpServer::open.
#include "agent/mcp/server.h"

#include <algorithm>
#include <array>

#include "agent/mcp/result_text.h"
#include "agent/shell/program_run.h"
#include "parlance/json_writer.h"
#include "parlance/version.h"

namespace parlance::agent {

namespace {

constexpr std::array<std::string_view, 4> kRevisions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view kWithoutHandshake = "2026-07-28";

constexpr int kMostStarts = 4;
constexpr int kMostPages = 64;
constexpr std::size_t kMostTools = 256;
constexpr std::size_t kMostSchema = 64 << 10;      // bytes
constexpr std::size_t kMostDescription = 8 << 10;  // bytes
constexpr double kToList = 30;                     // seconds

std::string client_info() { return JsonWriter('{').text("name", "parlance").text("version", PARLANCE_VERSION).take(); }

/// At most so many bytes, without half a character.
std::string begin_of(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

/// What a server has said before it ended.
std::string last_words(const McpSession& session) {
  std::string text = session.process().last_errors();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.empty() && session.garbage() > 0) text = "on standard output, no message: " + session.first_garbage();
  constexpr std::size_t kMost = 1500;
  if (text.size() > kMost) text = "… " + text.substr(text.size() - kMost);
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
  Launch launch;
  launch.command = looked_up(spec_.command);
  launch.environment = environment_with(sandbox_, spec_.environment);
  launch.folder = spec_.folder.empty() ? sandbox_.policy().workspace : spec_.folder;
  Result<std::unique_ptr<LineProcess>> process = LineProcess::start(sandbox_, launch, log_);
  if (!process) return process.error();
  session_ = std::make_unique<McpSession>(std::move(*process));
  return {};
}

Result<void> McpServer::start(int cancel) {
  if (Result<void> opened = open(); !opened) return opened;
  const Patience patience = Patience::seconds(spec_.start_timeout, cancel);
  Result<void> done = shake_hands(patience);
  if (done) done = list(patience);
  if (!done) session_->process().close();
  return done;
}

Result<void> McpServer::shake_hands(const Patience& patience) {
  const std::string parameters = JsonWriter('{')
                                     .text("protocolVersion", kRevisions[0])
                                     .raw("capabilities", "{}")
                                     .raw("clientInfo", client_info())
                                     .take();
  has_handshake_ = true;
  const McpAnswer answer = session_->request("initialize", parameters, patience);
  if (answer.end != LineEnd::none) return failure("does not start: " + answer.reason());
  if (!answer.is_result()) return discover(patience, answer.reason());
  revision_ = whole_text(answer.result()["protocolVersion"]).substr(0, 40);
  if (std::find(kRevisions.begin(), kRevisions.end(), revision_) == kRevisions.end())
    return failure("speaks the protocol's revision '" + revision_ + "', which is not known here").hint("");
  session_->notify("notifications/initialized");
  if (answer.result()["capabilities"]["tools"].is_undefined())
    warnings_.push_back("the MCP server " + spec_.name + " says that it has no tools");
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

void McpServer::take_tool(Value tool) {
  McpTool made{.name = whole_text(tool["name"]), .description = whole_text(tool["description"])};
  if (made.description.empty()) made.description = whole_text(tool["title"]);
  made.description = begin_of(made.description, kMostDescription);
  const Value schema = tool["inputSchema"];
  made.parameters = schema.is(Kind::dict) ? json_text(schema) : R"({"type": "object", "properties": {}})";
  const bool is_known =
      std::any_of(tools_.begin(), tools_.end(), [&made](const McpTool& one) { return one.name == made.name; });
  if (is_known) return;
  if (made.name.empty() || made.parameters.size() > kMostSchema) {
    warnings_.push_back("a tool of the MCP server " + spec_.name + " is left out: " +
                        (made.name.empty() ? std::string("it has no name")
                                           : made.name.substr(0, 64) + " has a schema of more than 64 KiB"));
    return;
  }
  tools_.push_back(std::move(made));
}

Result<void> McpServer::list(const Patience& patience) {
  tools_.clear();
  std::string cursor;
  for (int page = 0; page < kMostPages; ++page) {
    JsonWriter parameters('{');
    if (!cursor.empty()) parameters.text("cursor", cursor);
    const McpAnswer answer = session_->request("tools/list", with_metadata(parameters.take()), patience);
    if (!answer.is_result()) {
      if (answer.end == LineEnd::none && !warnings_.empty()) return {};  // it has said that it has none
      return failure("does not tell its tools: " + answer.reason());
    }
    for (const Value& tool : answer.result()["tools"].items()) {
      if (tools_.size() < kMostTools) {
        take_tool(tool);
        continue;
      }
      warnings_.push_back("the MCP server " + spec_.name + " has more than 256 tools: the rest is left out");
      return {};
    }
    const std::string next = whole_text(answer.result()["nextCursor"]);
    if (next.empty() || next == cursor) return {};
    cursor = next;
  }
  return {};
}

bool McpServer::look_for_changes() {
  if (session_ && !session_->process().is_over()) {
    session_->read_along();
    const bool is_told = session_->take_changed();
    const std::vector<McpTool> before = tools_;
    if (is_told && list(Patience::seconds(kToList))) changed_ = true;
    if (is_told && !changed_) tools_ = before;
  }
  return std::exchange(changed_, false);
}

McpOutcome McpServer::failed_call(const McpAnswer& answer) {
  McpOutcome outcome{.text = "Error: " + answer.reason()};
  if (answer.end == LineEnd::none) return outcome;
  outcome.cut_off = true;
  outcome.text = "Error: no result of the MCP server " + spec_.name + ": " + answer.reason();
  if (answer.end == LineEnd::ended || answer.end == LineEnd::too_long) {
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
  if (session_) session_->read_along();  // has it ended meanwhile?
  if (!session_ || session_->process().is_over()) {
    if (starts_ >= kMostStarts)
      return {.text = "Error: the MCP server " + spec_.name + " has ended " + std::to_string(starts_) +
                      " times, and is not started again"};
    if (session_) session_->process().close();
    if (Result<void> started = start(patience.cancel); !started) return {.text = "Error: " + started.error().message()};
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
