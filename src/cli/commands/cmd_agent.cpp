// parlance agent: gives a model a goal and a terminal in a sandbox. Begin reading at run_agent.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "agent/sandbox/places.h"
#include "agent/sandbox/sandbox.h"
#include "agent/tools/own_tools.h"
#include "agent/tools/terminal_tool.h"
#include "cli/agent/agent_prompt.h"
#include "cli/agent/agent_screen.h"
#include "cli/agent/agent_signals.h"
#include "cli/agent/agent_tools.h"
#include "cli/agent/approval.h"
#include "cli/agent/transcript_page.h"
#include "cli/civil_time.h"
#include "cli/commands.h"
#include "cli/lines/run_clock.h"
#include "cli/numbers.h"
#include "cli/options/option_words.h"
#include "cli/options/options.h"
#include "cli/options/reply_choice.h"
#include "cli/options/serve_options.h"
#include "cli/output.h"
#include "cli/report.h"
#include "parlance/json_writer.h"
#include "parlance/source.h"
#include "parlance/version.h"
#include "serve/agent/agent_gateway.h"

namespace parlance::cli {
namespace {

struct AgentCommand {
  std::string goal;
  ModelWish model;
  std::optional<std::string> workspace;  ///< unset: the transcript's, or the current folder
  std::string system;
  bool interpreter = false;
  UserToolChoice tools;
  std::string approve = "never";
  std::string sandbox = "auto";
  bool no_sandbox = false;
  bool network = false;
  std::vector<std::string> readable, writable, environment;
  std::uint64_t memory = 4096, processes = 512, file_size = 2048;
  std::uint64_t timeout = 120;
  unsigned max_turns = 200, repeats = 3;
  std::uint64_t max_tokens = 0, max_seconds = 0, max_output = 16384;
  std::int64_t reply_tokens = 4096, reasoning_tokens = 0;
  std::string temperature;
  std::int64_t seed = -1;
  bool no_verify = false;
  std::string transcript;
  bool no_transcript = false;
  std::string resume;
  bool json = false;
  std::string html;
};

const std::vector<std::string> kSandboxes = {"auto", "bubblewrap", "landlock"};
const std::vector<std::string> kApprovals = {"never", "writes", "always"};

constexpr std::string_view kOnceMore =
    "Ctrl-C: the turn goes on. Once more within two seconds ends the agent; --resume goes on from there";

/// Has the format calls of code, which it writes without a list of tools?
bool has_interpreter(const BuiltinFormat& format) {
  const Result<ReplyFormat> replies = replies_of(format);
  const auto is_code = [](const CallPart& part) { return part.arguments.codec == CallArguments::Codec::code; };
  return replies && std::any_of(replies->calls.begin(), replies->calls.end(), [&is_code](const CallForm& form) {
           return std::any_of(form.call.begin(), form.call.end(), is_code);
         });
}

/// Of each request.
std::string settings_of(const AgentCommand& command) {
  JsonWriter made('{');
  if (command.reply_tokens > 0) made.number("max_tokens", command.reply_tokens);
  if (command.reasoning_tokens > 0) made.number("thinking_token_budget", command.reasoning_tokens);
  if (!command.temperature.empty()) made.raw("temperature", command.temperature);
  if (command.seed >= 0) made.number("seed", command.seed);
  return made.take();
}

agent::SandboxPolicy policy_of(const AgentCommand& command) {
  agent::SandboxPolicy policy{.workspace = command.workspace.value_or("."),
                              .writable = command.writable,
                              .readable = command.readable,
                              .network = command.network};
  policy.limits.memory = command.memory << 20U;
  policy.limits.processes = command.processes;
  policy.limits.file_size = command.file_size << 20U;
  policy.environment.insert(policy.environment.end(), command.environment.begin(), command.environment.end());
  return policy;
}

Result<agent::Sandbox> open_sandbox(const AgentCommand& command, const agent::SandboxPolicy& policy) {
  if (command.no_sandbox) return agent::Sandbox::open(policy, agent::SandboxKind::none);
  if (command.sandbox == "bubblewrap") return agent::Sandbox::open(policy, agent::SandboxKind::bubblewrap);
  if (command.sandbox == "landlock") return agent::Sandbox::open(policy, agent::SandboxKind::landlock);
  return agent::Sandbox::open(policy);
}

/// Where the transcript goes: by default into the state of the user's programs. "": there is none.
std::string transcript_folder(const AgentCommand& command, const std::string& session) {
  if (command.no_transcript) return {};
  if (!command.transcript.empty()) return command.transcript;
  const char* const state = std::getenv("XDG_STATE_HOME");
  const char* const home = std::getenv("HOME");
  const std::string base =
      state != nullptr && *state != 0 ? state : std::string(home != nullptr ? home : ".") + "/.local/state";
  return base + "/parlance/agent/" + session;
}

/// Where the transcript goes, without links: nobody can put another in the place of one. Commands would change what is
/// in a folder of theirs, and each event would be a change of theirs. Fails with usage.
Result<std::string> transcript_outside(const std::string& transcript, const agent::SandboxPolicy& policy) {
  if (transcript.empty()) return transcript;
  if (Result<void> fine = agent::check_way(policy, transcript); !fine) return fine.error();
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(transcript, failed);
  std::string found = std::filesystem::weakly_canonical(whole, failed).string();
  if (failed) found = whole.lexically_normal().string();
  if (!agent::is_theirs(policy, found)) return found;
  return usage("the transcript's folder " + transcript + " is one that commands may change",
               "give another folder to --transcript, or say --no-transcript");
}

/// Makes that folder, which nobody else may enter, and those around it. Who writes there says what has failed.
void make_transcript_folder(const std::string& path) {
  std::error_code failed;
  if (!path.empty()) std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (!path.empty()) ::mkdir(path.c_str(), 0700);
}

std::string new_session() {
  const CivilTime now = local_time_now();
  char text[64];
  std::snprintf(text, sizeof text, "agent-%04d%02d%02d-%02d%02d%02d-%d", now.year, now.month, now.day, now.hour,
                now.minute, now.second, static_cast<int>(::getpid()));
  return text;
}

/// The file of a transcript, which alone is in its folder.
std::string transcript_file(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_directory(path, failed)) return path;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed))
    if (entry.path().extension() == ".jsonl") return entry.path().string();
  return path;
}

/// Fails with usage.
Result<void> check_temperature(const std::string& given) {
  Document number;
  if (given.empty()) return {};
  const Value value = number.parse(given) ? number.root() : Value();
  const bool is_one =
      value.is_small_int() ? value.integer >= 0 : value.is(Kind::real) && std::isfinite(value.real) && value.real >= 0;
  return is_one ? Result<void>() : usage("--temperature is a number from 0 on, not '" + given + "'");
}

/// What contradicts itself. Fails with usage.
Result<void> check_options(const AgentCommand& command) {
  if (command.goal.find_first_not_of(" \t\n") == std::string::npos && command.resume.empty())
    return usage("say what is to be done", "parlance agent \"set up a git repository\" -m MODEL --backend KIND=URL");
  if (!command.goal.empty() && !command.resume.empty())
    return usage("--resume goes on with the goal of its transcript, so it takes no other");
  if (!command.system.empty() && !command.resume.empty())
    return usage("--resume goes on with the system message of its transcript, so it takes no --system");
  for (const std::string& name : command.environment)
    if (name.empty() || name.find('=') != name.npos)
      return usage("--environment takes the name of a variable, and '" + name + "' is none",
                   "it is passed on as it is: A=B parlance agent --environment A …");
  if (command.no_sandbox && command.sandbox != "auto") return usage("--sandbox and --no-sandbox exclude each other");
  if (command.no_transcript && !command.transcript.empty())
    return usage("--transcript and --no-transcript exclude each other");
  return check_temperature(command.temperature);
}

Result<void> check_approval(const AgentCommand& command) {
  if (command.approve == "never" || can_ask()) return {};
  return usage("--approve " + command.approve + " asks on the terminal, and there is none" +
               (command.resume.empty() ? "" : "; the run that goes on began with it"));
}

/// The one of two values of --approve that asks more often.
std::string stricter(const std::string& one, std::string_view other) {
  const auto rank = [](std::string_view value) { return std::find(kApprovals.begin(), kApprovals.end(), value); };
  const auto rank_of_other = rank(other);
  return rank_of_other != kApprovals.end() && rank_of_other > rank(one) ? std::string(other) : one;
}

constexpr int kFailedExit = 5;

int exit_code_of(const AgentEnd& end) {
  using Reason = AgentEnd::Reason;
  switch (end.reason) {
    case Reason::done: return 0;
    case Reason::gave_up: return 1;
    case Reason::turns:
    case Reason::tokens:
    case Reason::seconds:
    case Reason::repeats:
    case Reason::context: return 4;
    case Reason::model: return kFailedExit;
    case Reason::stopped: return 130;
    case Reason::usage: return 2;
  }
  return 1;
}

AgentEnd end_by(AgentEnd::Reason reason, const Error& error) {
  AgentEnd end{.reason = reason, .sentence = error.message()};
  if (!error.hint().empty()) end.sentence.append(" (").append(in_options(error.hint())).append(")");
  return end;
}

/// Where the run cannot begin: who reads events has an end, too.
int refuse_run(bool json, const Error& error) {
  if (json) screen_for_programs()->end(end_by(AgentEnd::Reason::usage, error));
  return report(error);
}

/// The engine, or the transcript's folder, is not as it has to be.
int could_not_begin(AgentScreen& screen, bool json, const Error& error) {
  if (error.code() != ErrorCode::file) return refuse_run(json, error);
  screen.end(end_by(AgentEnd::Reason::model, error));
  return kFailedExit;
}

/// A signal came before the first turn.
int was_stopped(AgentScreen& screen) {
  const AgentEnd end{.reason = AgentEnd::Reason::stopped, .sentence = "it was stopped before its first turn"};
  screen.end(end);
  return exit_code_of(end);
}

/// The system message where the command line has none: one for a template that has no own, as most have none for a
/// terminal. A resumed run goes on with what it had.
void choose_system(AgentCommand& command, const serve::ModelOptions& model) {
  if (!command.system.empty() || !command.resume.empty()) return;
  const bool has_network = command.network || command.no_sandbox;
  if (command.interpreter)
    command.system = interpreter_system(has_network);
  else if (!speaks_of_tool(model.reader, model.render, std::string(agent::kTerminalTool.name)))
    command.system = terminal_system(has_network);
}

/// What is to be said of a run that goes on.
std::vector<std::string> facts_of(const serve::RecordedAgent& recorded) {
  const AgentHistory& history = recorded.history;
  std::vector<std::string> facts;
  facts.push_back("goes on behind turn " + std::to_string(history.turns) + " of the transcript");
  const bool says_end = !history.messages.empty() && history.messages.back().role == "assistant" &&
                        history.messages.back().tool_calls.empty() && !history.unverified && !history.length &&
                        !history.awaits_result;
  const bool has_ended = recorded.end ? recorded.end->is_done() : says_end;  // older transcripts have no end
  if (recorded.end && !has_ended) facts.push_back("that run had ended: " + recorded.end->sentence);
  if (has_ended) facts.push_back("that run was finished: nothing is left to do. Another goal takes a new run");
  if (!recorded.version.empty() && recorded.version != PARLANCE_VERSION)
    facts.push_back("that run was of parlance " + recorded.version);
  if (!recorded.ends_whole) facts.push_back("the last line of the transcript was torn, and is left out");
  return facts;
}

/// bubblewrap keeps nobody from a local socket in a folder that it shows, and behind it may be what rules the machine.
void warn_of_sockets(const agent::SandboxPolicy& policy, std::vector<std::string>& facts) {
  for (const std::string& path : agent::shown_paths(policy)) {
    std::error_code failed;
    if (std::filesystem::is_socket(path, failed)) facts.push_back(path + ": commands can connect to this socket");
    for (std::filesystem::directory_iterator each(path, failed), end; !failed && each != end; each.increment(failed)) {
      std::error_code gone;
      if (!std::filesystem::is_socket(each->symlink_status(gone))) continue;
      facts.push_back(each->path().string() + ": commands can connect to this socket");
      break;  // one is enough to look there
    }
  }
}

std::vector<std::string> facts_of(const AgentCommand& command, const agent::Sandbox& sandbox,
                                  const agent::WorkspaceChanges& changes, const serve::AgentGateway& gateway,
                                  const std::vector<std::string>& warnings) {
  std::vector<std::string> facts;
  if (sandbox.kind() == agent::SandboxKind::none)
    facts.push_back("NO SANDBOX: commands may do whatever you may do");
  else
    facts.push_back("sandbox: " + std::string(agent::name_of(sandbox.kind())) +
                    (command.network ? ", with network" : ", no network"));
  if (command.approve != "never") facts.push_back("asks before commands: " + command.approve);
  if (!sandbox.reason().empty()) facts.push_back("not the best sandbox: " + sandbox.reason());
  facts.push_back("workspace: " + sandbox.policy().workspace);
  if (sandbox.kind() == agent::SandboxKind::bubblewrap) warn_of_sockets(sandbox.policy(), facts);
  if (!changes.sees_all())
    facts.push_back("some of its files are not looked at: each command counts as one that changes files");
  if (!gateway.transcript().empty()) facts.push_back("transcript: " + gateway.transcript());
  for (const std::string& warning : warnings) facts.push_back("engine: " + warning);
  return facts;
}

/// The workspace of a transcript was written without links: where it leads over one now, a command may have made it.
Result<void> check_recorded_workspace(const std::string& recorded) {
  std::error_code failed;
  const std::string now = std::filesystem::canonical(recorded, failed).string();
  if (failed || now == recorded) return {};
  return usage("the workspace of the transcript, " + recorded + ", now leads by a link to " + now,
               "look at the link; if it is yours, name the folder by --workspace");
}

/// What a resumed run takes over from the transcript, where the command line says nothing.
Result<std::string> take_over(AgentCommand& command) {
  const Result<serve::TranscriptHead> head = serve::read_transcript_head(command.resume);
  if (!head) return head.error();
  Document settings;
  if (Result<void> parsed = settings.parse(head->settings); !parsed) return parsed.error();
  const Value root = settings.root();
  if (!command.model.served.prompt.wish.any())
    if (Result<void> read = read_source(head->source, command.model.served); !read) return read.error();
  if (command.model.backend.empty()) command.model.backend = root["backend"].text();
  if (!command.workspace) {
    command.workspace = root["workspace"].text();
    if (Result<void> same = check_recorded_workspace(*command.workspace); !same) return same.error();
  }
  if (command.system.empty()) command.system = root["system"].text();
  command.approve = stricter(command.approve, root["approve"].text());
  command.interpreter =
      command.interpreter || (root["interpreter"].is(Kind::boolean) && root["interpreter"].integer != 0);
  take_over(command.tools, root["user_tools"]);
  command.goal = head->goal;
  command.transcript = std::filesystem::path(command.resume).parent_path().string();
  if (command.transcript.empty()) command.transcript = ".";
  return head->session;
}

std::string settings_for_transcript(const AgentCommand& command, const agent::Sandbox& sandbox,
                                    const agent::ToolsFile& tools) {
  return JsonWriter('{')
      .text("workspace", sandbox.policy().workspace)
      .text("backend", command.model.backend)
      .text("system", command.system)
      .text("approve", command.approve)
      .flag("interpreter", command.interpreter)
      .text("sandbox", agent::name_of(sandbox.kind()))
      .flag("network", command.network)
      .raw("user_tools", settings_of(command.tools, tools))
      .raw("request", settings_of(command))
      .take();
}

/// The messages that the model's session has: up to its last reply.
std::size_t known_of(const AgentHistory& history) {
  std::size_t known = history.messages.size();
  while (known > 0 && history.messages[known - 1].role != "assistant") --known;
  return known;
}

/// What one run works with.
struct Parts {
  AgentCommand& command;
  serve::AgentGateway& gateway;
  AgentScreen& screen;
  const AgentSignals& signals;
  const RunClock& clock;
  const agent::Sandbox& sandbox;
  agent::PersistentShell& shell;
  agent::WorkspaceChanges& changes;
  const agent::SandboxToolOptions& tool_options;
  agent::UserTools& user_tools;
  bool has_worked = false;  ///< there was an event
};

/// Where files have changed behind the last command, by what it left in the background, the end is sent back as one
/// without verification is.
AgentEnd run_to_its_end(Parts& parts, AgentOptions options, AgentHistory history) {
  constexpr unsigned kMostLooks = 2;
  for (unsigned looks = 0;; ++looks) {
    const std::size_t known = known_of(history);
    if (parts.clock.is_limited()) options.limits.seconds = std::max(parts.clock.remaining(), 0.001);
    Agent agent(parts.gateway.model(), options);
    AgentEnd end = agent.resume(std::move(history), known);
    const bool is_sure = end.reason != AgentEnd::Reason::done || !options.verify || looks == kMostLooks;
    if (is_sure || !parts.changes.changed_by_itself()) return end;
    parts.screen.note("files have changed since the last command");
    history = {.messages = agent.messages(),
               .turns = end.turns,
               .sampled_tokens = end.sampled_tokens,
               .unverified = true,
               .changes = parts.changes.names_of(parts.changes.stale())};
  }
}

/// Unless the run has done nothing behind the end that is there.
Result<void> write_end(Parts& parts, const AgentEnd& end, const std::optional<serve::RecordedEnd>& before) {
  const bool is_there = before && !parts.has_worked && before->reason == name_of(end.reason);
  return is_there ? Result<void>() : parts.gateway.write_end(end);
}

AgentEnd run_loop(Parts& parts, std::vector<AgentTool> tools, std::optional<serve::RecordedAgent> recorded) {
  const AgentCommand& command = parts.command;
  Approver approver(command.approve, [&parts] { return parts.shell.was_replaced(); },
                    {.descriptor = parts.signals.descriptor(),
                     .clear = [&parts] { parts.signals.clear(); },
                     .want_end = [] { return wants_end(); }});
  std::optional<Error> unwritten;
  AgentOptions options{.goal = command.goal,
                       .system = command.system,
                       .tools = with_user_tools(tools, parts.user_tools),
                       .verify = !command.no_verify,
                       .limits = {.turns = command.max_turns,
                                  .tokens = command.max_tokens,
                                  .seconds = static_cast<double>(command.max_seconds),
                                  .repeats = command.repeats}};
  options.events = [&](const AgentEvent& event) {
    if (Result<void> written = parts.gateway.write(event); !written && !unwritten) unwritten = written.error();
    if (event.kind == AgentEvent::Kind::call) parts.signals.clear();
    parts.has_worked = true;
    parts.screen.show(event);
  };
  options.approve = [&](std::string_view name, std::string_view arguments) { return approver.ask(name, arguments); };
  options.resolve = [&](const InterruptedCall& call) { return approver.resolve(call); };
  options.renewed_tools = [&]() -> std::optional<std::vector<AgentTool>> {
    parts.signals.clear();
    const bool found = parts.user_tools.look_for_changes();
    for (const std::string& warning : parts.user_tools.take_warnings()) parts.screen.note(warning);
    if (!found) return std::nullopt;
    return with_user_tools(tools, parts.user_tools);
  };
  options.stopped = [&] { return unwritten.has_value() || wants_end() || screen_failure() != 0; };
  AgentEnd end = run_to_its_end(parts, std::move(options), recorded ? std::move(recorded->history) : AgentHistory());
  if (screen_failure() != 0)
    end.sentence = "its output cannot be written: " + std::string(std::strerror(screen_failure()));
  if (!unwritten) {
    const Result<void> written = write_end(parts, end, recorded ? recorded->end : std::nullopt);
    if (!written) unwritten = written.error();
  }
  if (unwritten) {
    end.reason = AgentEnd::Reason::model;
    end.sentence = "the transcript cannot be written: " + unwritten->message();
  }
  return end;
}

/// For the tools that run in the sandbox.
agent::SandboxToolOptions tool_options(const AgentCommand& command, agent::SandboxKind kind, AgentScreen& screen,
                                       const AgentSignals& signals, const RunClock& clock) {
  constexpr const char* kClosedTmp = "Temporary files go to $TMPDIR: /tmp is closed.";
  return {.timeout = static_cast<double>(command.timeout),
          .remaining = clock.is_limited() ? std::function<double()>([&] { return clock.remaining(); }) : nullptr,
          .output = {.shown = command.max_output},
          .on_output = [&](agent::Stream stream,
                           std::string_view bytes) { screen.output(bytes, stream == agent::Stream::err); },
          .on_output_end =
              [&](agent::Stream stream, const agent::Output& output) {
                screen.output_end(stream == agent::Stream::err, output.file);
              },
          .place = kind == agent::SandboxKind::landlock ? kClosedTmp : "",
          .cancel = signals.descriptor()};
}

/// Runs it where everything is open.
AgentEnd run_in(Parts& parts, const std::vector<std::string>& facts, std::optional<serve::RecordedAgent> recorded) {
  const AgentCommand& command = parts.command;
  agent::Interpreter interpreter(parts.sandbox);
  std::vector<AgentTool> tools;
  tools.push_back(command.interpreter ? agent::interpreter_tool(interpreter, parts.changes, parts.tool_options)
                                      : agent::terminal_tool(parts.shell, parts.changes, parts.tool_options));
  parts.screen.begin(command.goal, facts);
  AgentEnd end = run_loop(parts, std::move(tools), std::move(recorded));
  parts.screen.end(end);
  return end;
}

/// What parlance does with a chat by itself: without it, a prompt opens a reply only where it is told to.
void open_replies(PromptOptions& prompt) {
  if (prompt.as_is || prompt.as_transformers) prompt.generation_prompt = true;
}

/// Completes what the command line says. Returns the session's name. Fails with usage, file, and as take_over() does.
Result<std::string> complete(AgentCommand& command) {
  if (Result<void> checked = check_options(command); !checked) return checked.error();
  Result<std::string> system = read_system(command.system);
  if (!system) return system.error();
  command.system = std::move(*system);
  command.resume = transcript_file(command.resume);
  open_replies(command.model.served.prompt);
  Result<std::string> session = command.resume.empty() ? Result<std::string>(new_session()) : take_over(command);
  const BuiltinFormat* const format = find_format(command.model.served.prompt.wish.format);
  if (format != nullptr && has_interpreter(*format)) command.interpreter = true;
  if (Result<void> checked = check_approval(command); session && !checked) return checked.error();
  return session;
}

/// Begins the transcript, or restores the one that goes on.
Result<std::optional<serve::RecordedAgent>> begin_or_restore(const AgentCommand& command, serve::AgentGateway& gateway,
                                                             const std::string& settings) {
  if (command.resume.empty()) {
    if (Result<void> written = gateway.write_goal(command.goal, settings); !written) return written.error();
    return std::optional<serve::RecordedAgent>();
  }
  Result<serve::RecordedAgent> restored = gateway.restore(command.resume);
  if (!restored) return restored.error();
  return std::optional(std::move(*restored));
}

/// The folders that commands may change, as they are now. Nothing runs yet that a Ctrl-C could be meant for, so that it
/// ends this look; those behind commands end as the run does.
agent::WorkspaceChanges look_at_folders(const agent::SandboxPolicy& policy, const RunClock& clock) {
  std::vector<std::string> folders = policy.writable;
  folders.push_back(policy.workspace);
  const auto has_begun = std::make_shared<bool>(false);
  agent::WorkspaceChanges changes(std::move(folders), [has_begun, &clock] {
    return wants_end() || clock.is_over() || (!*has_begun && has_interrupt());
  });
  *has_begun = true;
  return changes;
}

int run_in_sandbox(AgentCommand& command, const std::string& session, const agent::Sandbox& sandbox,
                   const agent::ToolsFile& tools_file) {
  Result<serve::ModelOptions> model = open_model(command.model);
  if (!model) return refuse_run(command.json, model.error());
  choose_system(command, *model);
  const AgentSignals signals;
  agent::PersistentShell shell(sandbox);
  if (Result<void> begun = command.interpreter ? Result<void>() : shell.begin(); !begun)
    return refuse_run(command.json, begun.error());
  const std::unique_ptr<AgentScreen> screen =
      command.json ? screen_for_programs() : screen_for_people(output_shows_color());
  const RunClock clock(command.max_seconds);
  agent::WorkspaceChanges changes = look_at_folders(sandbox.policy(), clock);
  if (signals.was_interrupted()) return was_stopped(*screen);
  const agent::SandboxToolOptions run_tools = tool_options(command, sandbox.kind(), *screen, signals, clock);
  const Result<std::string> transcript = transcript_outside(transcript_folder(command, session), sandbox.policy());
  if (!transcript) return refuse_run(command.json, transcript.error());
  make_transcript_folder(*transcript);
  Result<std::unique_ptr<agent::UserTools>> user_tools = agent::UserTools::open(
      sandbox, changes, tools_file, {.run = run_tools, .log_folder = *transcript});  // logs of MCP servers
  if (!user_tools)
    return signals.was_interrupted() ? was_stopped(*screen) : refuse_run(command.json, user_tools.error());
  const auto stopped = [&] {
    if (signals.was_interrupted() && !wants_end()) screen->note(kOnceMore);
    return wants_end() || clock.is_over();
  };
  std::vector<std::string> warnings;
  Result<std::unique_ptr<serve::AgentGateway>> gateway =
      serve::AgentGateway::open(std::move(*model),
                                {.session = session,
                                 .settings = settings_of(command),
                                 .capture = *transcript,
                                 .stopped = stopped,
                                 .flush = flush_screen,
                                 .note = [&](std::string_view said) { screen->note(said); },
                                 .log = [](std::string_view) {}},
                                warnings);
  if (!gateway) return could_not_begin(*screen, command.json, gateway.error());
  Result<std::optional<serve::RecordedAgent>> recorded =
      begin_or_restore(command, **gateway, settings_for_transcript(command, sandbox, tools_file));
  if (!recorded) return refuse_run(command.json, recorded.error());
  std::vector<std::string> facts = facts_of(command, sandbox, changes, **gateway, warnings);
  for (std::string& fact : (*user_tools)->facts()) facts.push_back(std::move(fact));
  if (*recorded)
    for (std::string& fact : facts_of(**recorded)) facts.push_back(std::move(fact));
  Parts parts{command, **gateway, *screen, signals, clock, sandbox, shell, changes, run_tools, **user_tools};
  return exit_code_of(run_in(parts, facts, std::move(*recorded)));
}

int print_page(const std::string& transcript) {
  const Result<std::string> page = transcript_page(transcript_file(transcript));
  return page ? print(*page) : report(page.error());
}

int run_or_refuse(AgentCommand& command) {
  const Result<std::string> session = complete(command);
  if (!session) return refuse_run(command.json, session.error());
  agent::SandboxPolicy policy = policy_of(command);
  const Result<agent::SandboxPolicy> places = agent::checked(policy);
  if (!places) return refuse_run(command.json, places.error());
  const Result<agent::ToolsFile> tools_file = read_user_tools(command.tools, *places);
  if (!tools_file) return refuse_run(command.json, tools_file.error());
  policy.readable.insert(policy.readable.end(), tools_file->files.begin(), tools_file->files.end());
  const Result<agent::Sandbox> sandbox = open_sandbox(command, policy);
  if (!sandbox) return refuse_run(command.json, sandbox.error());
  return run_in_sandbox(command, *session, *sandbox, *tools_file);
}

int run_agent(AgentCommand& command) {
  if (!command.html.empty() && !(command.resume.empty() && command.goal.empty()))
    return report(usage("--html prints a page and runs nothing, so it takes neither a goal nor --resume"));
  if (!command.html.empty()) return print_page(command.html);
  if (Result<void> opened = open_output(); !opened) return report(opened.error());
  int code = 0;
  try {
    code = run_or_refuse(command);
  } catch (const std::exception& failed) {  // no thread, no memory
    code = refuse_run(command.json,
                      Error(ErrorCode::usage, std::string("the agent cannot be run here: ") + failed.what()));
  }
  const int failure = screen_failure();
  return failure == 0 ? code
                      : report(Error(ErrorCode::file, std::string("writing the output: ") + std::strerror(failure)));
}

// With less no shell begins, and of an output nothing could be read.
constexpr std::uint64_t kLeastMebibytes = 32, kLeastProcesses = 8, kLeastOutput = 256;

constexpr const char* kAgentExamples = R"(Examples:
  parlance agent "set up a git repository with a README" -m model.gguf --backend llama-server=http://127.0.0.1:8080
  parlance agent --resume ~/.local/state/parlance/agent/NAME/FILE.jsonl)";

void declare_sandbox(Options& app, AgentCommand& c) {
  app.add_option(
         "--workspace", [&c](const std::string& given) { c.workspace = given; },
         "The folder that commands may change; by default this one, or the transcript's where a run goes on")
      .placeholder("DIR");
  app.add_option("--sandbox", c.sandbox, "What keeps commands inside").one_of(kSandboxes).show_default();
  app.add_flag("--no-sandbox", c.no_sandbox, "Run commands without a sandbox: they may do whatever you may do");
  app.add_flag("--network", c.network, "Commands may use the network");
  app.add_option("--readable", c.readable, "Another folder or file that commands may read; may be repeated")
      .placeholder("PATH")
      .one_value();
  app.add_option("--writable", c.writable, "Another folder or file that commands may change; may be repeated")
      .placeholder("PATH")
      .one_value();
  app.add_option("--environment", c.environment, "A variable of the environment that commands may see; may be repeated")
      .placeholder("NAME")
      .one_value();
  add_number(app, "--memory", c.memory, "MiB of memory that all commands together may use", kMostMebibytes,
             kLeastMebibytes);
  add_number(app, "--processes", c.processes, "Processes that they may have", kMostCount, kLeastProcesses);
  add_number(app, "--file-size", c.file_size, "MiB of the largest file that they may write", kMostMebibytes, 1);
  add_number(app, "--timeout", c.timeout, "Seconds of a command, where the model names none", kMostSeconds, 1);
  add_number(app, "--shown-output", c.max_output,
             "Bytes of a command's output that the model sees; the whole is in a file", kMostCount, kLeastOutput);
}

void declare_loop(Options& app, AgentCommand& c) {
  app.add_option("--system", c.system, "The system message, in place of the template's own or of ours")
      .placeholder("TEXT|@FILE");
  app.add_flag("--interpreter", c.interpreter, "Give the model Python in place of a terminal");
  declare_user_tools(app, c.tools);
  app.add_option("--approve", c.approve, "Ask on the terminal before commands: those that may write, or all")
      .one_of(kApprovals)
      .show_default();
  app.add_flag("--no-verify", c.no_verify, "Let the model end without a successful command after its last change");
  add_number(app, "--max-turns", c.max_turns, "Replies of the model");
  add_number(app, "--max-tokens", c.max_tokens, "Tokens that it samples in all");
  add_number(app, "--max-seconds", c.max_seconds, "Seconds of the whole run", kMostSeconds);
  add_number(app, "--max-repeats", c.repeats, "How often it may do the same with the same result");
  add_number(app, "--reply-tokens", c.reply_tokens, "Tokens of one reply");
  add_number(app, "--reasoning-tokens", c.reasoning_tokens,
             "Tokens of reasoning in one reply; then it is closed and the model goes on. By default any number");
  app.add_option("--temperature", c.temperature, "Of the sampler; by default the engine's").placeholder("N");
  add_number(app, "--seed", c.seed, "Of the sampler");
  app.add_option("--transcript", c.transcript,
                 "The folder of the transcript; by default below ~/.local/state/parlance/agent")
      .placeholder("DIR");
  app.add_flag("--no-transcript", c.no_transcript, "Write none, so that the run can be neither resumed nor replayed");
  app.add_option("--resume", c.resume, "Go on behind a transcript").placeholder("FILE");
  app.add_flag("--json", c.json, "Print a JSON object for each event");
  app.add_option("--html", c.html, "Print a page of a transcript, to read it by, and run nothing").placeholder("FILE");
}

}  // namespace

void tell_agent_refused(const Error& error) { screen_for_programs()->end(end_by(AgentEnd::Reason::usage, error)); }

Run declare_agent(Options& app) {
  auto command = std::make_shared<AgentCommand>();
  app.examples(kAgentExamples);
  app.add_option("GOAL", command->goal, "What is to be done");
  declare_loop(app, *command);
  declare_sandbox(app, *command);
  declare_model(app, command->model, ModelUse::agent);
  return [command] { return run_agent(*command); };
}

}  // namespace parlance::cli
