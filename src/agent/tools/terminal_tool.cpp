// Runs commands and code for a model, and says what became of them. Begin reading at terminal_tool.
#include "agent/tools/terminal_tool.h"

#include <algorithm>
#include <limits>

#include "agent/tools/own_tools.h"
#include "agent/tools/run_text.h"
#include "parlance/json.h"

namespace parlance::agent {

namespace {

constexpr const char* kTerminal = R"({"type": "object", "properties": {
"command": {"type": "string", "description": )"
                                  R"("A bash command. The shell stays: its folder, variables and background jobs )"
                                  R"(are there for the next command."},
"timeout": {"type": "number", "description": "Seconds until the command is interrupted"}}, "required": ["command"]})";

constexpr const char* kInterpreter = R"({"type": "object", "properties": {
"code": {"type": "string", "description": )"
                                     R"("Python code. Variables stay from code to code. The value of its last )"
                                     R"(expression is shown."}},
"required": ["code"]})";

/// What became of the shell.
std::vector<std::string> sentences_of(const CommandResult& result) {
  std::vector<std::string> sentences;
  if (result.restarted) {
    const std::string folder = result.elsewhere.empty() ? "in the same folder" : "in " + result.elsewhere;
    sentences.push_back("There is a new shell, " + folder +
                        (result.restored ? ", with the variables of the old one. Background jobs are gone."
                                         : ". Variables and background jobs are gone."));
    if (!result.elsewhere.empty()) sentences.push_back("The folder of the old one cannot be entered any more.");
  }
  if (!result.not_started.empty())
    sentences.push_back("The shell has ended, and no new one starts: " + result.not_started);
  const std::size_t jobs = result.run.background_jobs.size();
  if (jobs > 0) sentences.push_back("background jobs that run: " + std::to_string(jobs));
  return sentences;
}

/// What a model learns of a command. Without `time` it says whether two runs gave the same.
std::string said_of(const CommandResult& result, bool time) {
  std::string text = text_of_run(result.run, time);
  add_sentences(text, sentences_of(result));
  return text;
}

std::vector<std::string> joined(std::vector<std::string> some, const std::vector<std::string>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

/// What was changed, and how a check that writes files itself is told from that.
std::string told_changes(const WorkspaceChanges& changes, const std::vector<std::string>& changed, bool is_fine,
                         bool others_run) {
  if (changed.empty()) return {};
  std::string text = changes.names_of(changed);
  if (others_run) text += "; where a job in the background writes there, run the same check once more";
  if (is_fine && !others_run) text += "; if that was a check, which writes files itself, run the same once more";
  return text;
}

std::string with_space(const std::string& sentence) { return sentence.empty() ? sentence : " " + sentence; }

std::string status_of(const CodeResult& result) {
  if (result.run.end == RunEnd::program_ended)
    return how_it_ended("Python", result.run) + ", " + seconds_text(result.run.seconds);
  if (result.run.end == RunEnd::never_ran) return "it did not run, " + seconds_text(result.run.seconds);
  if (result.run.end != RunEnd::finished) return status_of_run(result.run);
  return (result.failed ? "an exception, " : "") + seconds_text(result.run.seconds);
}

/// Is there a word outside of comments, in bash as in Python? Before the first one nothing is quoted.
bool has_word(std::string_view text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\f"), text.size()));
    if (text.starts_with('#'))
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    else if (text.starts_with("\\\n"))
      text.remove_prefix(2);
    else
      return !text.empty();
  }
}

/// An integer that has no room in 64 bits counts by its sign alone.
double number_of(Value value, double otherwise) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  if (value.is_small_int()) return static_cast<double>(value.integer);
  if (value.is(Kind::integer)) return json_text(value).starts_with('-') ? -kEndless : kEndless;
  if (value.is(Kind::real)) return value.real;
  return otherwise;
}

/// What ran nothing shall not pass for a command that has succeeded.
Result<Document> read_arguments(std::string_view json, std::string_view member) {
  Document document;
  if (Result<void> parsed = document.parse(json, "the arguments"); !parsed) return parsed.error();
  const Value text = document.root()[member];
  if (!text.is_string()) return Error(ErrorCode::value, std::string(member) + " must be a string");
  if (has_word(text.text())) return document;
  return Error(ErrorCode::value,
               std::string(member) + " is empty, or a comment: nothing was run, and nothing is verified");
}

}  // namespace

AgentTool terminal_tool(PersistentShell& shell, WorkspaceChanges& changes, SandboxToolOptions options) {
  changes.add_others([&shell] { return shell.has_others(); });
  const auto run = [&shell, &changes, options](std::string_view arguments) -> Result<ToolOutcome> {
    const Result<Document> given = read_arguments(arguments, kTerminalTool.argument);
    if (!given) return given.error();
    const double timeout = number_of(given->root()["timeout"], options.timeout);
    if (given->root()[kTerminalTool.argument].text().find('\0') != std::string_view::npos)
      return Error(ErrorCode::value, "the command has a NUL byte, which bash cannot read: it was not run");
    if (!(timeout > 0))
      return Error(ErrorCode::value,
                   "timeout must be more than 0: it is the seconds until the command is interrupted. It was not run");
    changes.before_command();
    const Result<CommandResult> result =
        shell.run(std::string(given->root()[kTerminalTool.argument].text()), run_options(options, timeout));
    if (!result) return result.error();
    tell_output_end(options, result->run);
    const bool others_run = !result->run.background_jobs.empty() || shell.has_others();
    const bool is_fine = succeeded(result->run);
    const std::vector<std::string> changed =
        changes.after_command(is_fine, others_run, given->root()[kTerminalTool.argument].text());
    return ToolOutcome{.text = said_of(*result, true),
                       .succeeded = is_fine,
                       .changed = !changed.empty(),
                       .changes = told_changes(changes, changed, is_fine, others_run),
                       .compared = said_of(*result, false),
                       .status = status_of_run(result->run),
                       .notes = joined(result->run.notes, sentences_of(*result)),
                       .maybe_changed = !changed.empty() && !WorkspaceChanges::are_sure(changed)};
  };
  return {.name = std::string(kTerminalTool.name),
          .description = "Runs a command in a persistent bash shell, and returns its exit status, stdout and stderr." +
                         with_space(options.place),
          .parameters = kTerminal,
          .run = run};
}

AgentTool interpreter_tool(Interpreter& interpreter, WorkspaceChanges& changes, SandboxToolOptions options) {
  changes.add_others([&interpreter] { return interpreter.has_others(); });
  const auto run = [&interpreter, &changes, options](std::string_view arguments) -> Result<ToolOutcome> {
    const Result<Document> given = read_arguments(arguments, kInterpreterTool.argument);
    if (!given) return given.error();
    changes.before_command();
    const Result<CodeResult> result = interpreter.run(std::string(given->root()[kInterpreterTool.argument].text()),
                                                      run_options(options, options.timeout));
    if (!result) return result.error();
    tell_output_end(options, result->run);
    std::string text = result->text();
    while (!text.empty() && text.back() == '\n') text.pop_back();  // the template writes what stands around it
    const bool is_fine = !result->failed && result->run.end == RunEnd::finished;
    const std::vector<std::string> changed =
        changes.after_command(is_fine, false, given->root()[kInterpreterTool.argument].text());
    return ToolOutcome{.text = std::move(text),
                       .succeeded = is_fine,
                       .changed = !changed.empty(),
                       .changes = told_changes(changes, changed, is_fine, false),
                       .status = status_of(*result),
                       .notes = result->notes(),
                       .maybe_changed = !changed.empty() && !WorkspaceChanges::are_sure(changed)};
  };
  return {.name = std::string(kInterpreterTool.name),
          .description = "Runs Python code in a persistent process, and returns what it prints and its last value." +
                         with_space(options.place),
          .parameters = kInterpreter,
          .run = run};
}

}  // namespace parlance::agent
