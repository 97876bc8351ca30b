// Runs commands and code for a model, and says what became of them. Begin reading at terminal_tool.
#include "agent/tools/terminal_tool.h"

#include <cstdio>

#include "parlance/json.h"

namespace parlance::agent {

namespace {

constexpr const char* kTerminal = R"({"type": "object", "properties": {
"command": {"type": "string", "description": "A bash command. The shell stays: its folder, variables and background jobs are there for the next command."},
"timeout": {"type": "number", "description": "Seconds until the command is interrupted"}}, "required": ["command"]})";

constexpr const char* kInterpreter = R"({"type": "object", "properties": {
"code": {"type": "string", "description": "Python code. Variables stay from code to code. The value of its last expression is shown."}},
"required": ["code"]})";

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

std::string line_of_end(const RunResult& run) {
  const std::string status = run.status ? "exit status " + std::to_string(*run.status) : "no exit status";
  switch (run.end) {
    case RunEnd::finished: return status;
    case RunEnd::timed_out: return "interrupted: its time was over";
    case RunEnd::cancelled: return "interrupted by the user";
    case RunEnd::waits_for_input: return "interrupted: it waited for input, and nobody types here";
    case RunEnd::too_much_output: return "interrupted: too much output";
    case RunEnd::program_ended: return "the shell ended";
  }
  return status;
}

void add_output(std::string& text, std::string_view name, const Output& output) {
  if (output.text.empty()) return;
  text.append("\n").append(name).append(":\n").append(output.text);
  if (text.back() == '\n') text.pop_back();
}

void add_notes(std::string& text, const RunResult& run, const CommandResult& result) {
  for (const std::string& note : run.notes) text.append("\n[").append(note).append("]");
  if (result.restarted) {
    text += result.restored ? "\n[There is a new shell, in the same folder, with the variables of the old one.]"
                            : "\n[There is a new shell, in the same folder. Variables and background jobs are gone.]";
  }
  if (!run.background_jobs.empty())
    text.append("\n[background jobs that run: ").append(std::to_string(run.background_jobs.size())).append("]");
}

bool succeeded(const RunResult& run) { return run.end == RunEnd::finished && run.status == 0; }

/// What a model learns of a command. Without `time` it says whether two runs gave the same.
std::string said_of(const CommandResult& result, bool time) {
  const RunResult& run = result.run;
  std::string text = line_of_end(run);
  if (time) text.append(", ").append(seconds_text(run.seconds));
  add_output(text, "stdout", run.out);
  add_output(text, "stderr", run.err);
  if (run.out.text.empty() && run.err.text.empty()) text += "\n(no output)";
  add_notes(text, run, result);
  return text;
}

RunOptions run_options(const SandboxToolOptions& options, double timeout) {
  if (options.remaining) timeout = std::min(timeout, options.remaining());
  return {.timeout = std::clamp(timeout, 0.1, options.longest),
          .output = options.output,
          .on_output = options.on_output,
          .cancel = options.cancel};
}

double number_of(Value value, double otherwise) {
  if (value.is(Kind::integer)) return static_cast<double>(value.integer);
  if (value.is(Kind::real)) return value.real;
  return otherwise;
}

Result<Document> read_arguments(std::string_view json, std::string_view member) {
  Document document;
  if (Result<void> parsed = document.parse(json, "the arguments"); !parsed) return parsed.error();
  if (document.root()[member].is_string()) return document;
  return Error(ErrorCode::value, std::string(member) + " must be a string");
}

}  // namespace

AgentTool terminal_tool(PersistentShell& shell, WorkspaceChanges& changes, SandboxToolOptions options) {
  const auto run = [&shell, &changes, options](std::string_view arguments) -> Result<ToolOutcome> {
    const Result<Document> given = read_arguments(arguments, "command");
    if (!given) return given.error();
    const double timeout = number_of(given->root()["timeout"], options.timeout);
    const Result<CommandResult> result =
        shell.run(std::string(given->root()["command"].text()), run_options(options, timeout));
    if (!result) return result.error();
    return ToolOutcome{.text = said_of(*result, true),
                       .succeeded = succeeded(result->run),
                       .changed = !changes.take(1).empty(),
                       .compared = said_of(*result, false)};
  };
  return {.name = "terminal",
          .description = "Runs a command in a persistent bash shell, and returns its exit status, stdout and stderr.",
          .parameters = kTerminal,
          .run = run};
}

AgentTool interpreter_tool(Interpreter& interpreter, WorkspaceChanges& changes, SandboxToolOptions options) {
  const auto run = [&interpreter, &changes, options](std::string_view arguments) -> Result<ToolOutcome> {
    const Result<Document> given = read_arguments(arguments, "code");
    if (!given) return given.error();
    const Result<CodeResult> result =
        interpreter.run(std::string(given->root()["code"].text()), run_options(options, options.timeout));
    if (!result) return result.error();
    std::string text = result->text();
    while (!text.empty() && text.back() == '\n') text.pop_back();  // the template writes what stands around it
    return ToolOutcome{.text = std::move(text),
                       .succeeded = !result->failed && result->run.end == RunEnd::finished,
                       .changed = !changes.take(1).empty()};
  };
  return {.name = "interpreter",
          .description = "Runs Python code in a persistent process, and returns what it prints and its last value.",
          .parameters = kInterpreter,
          .run = run};
}

}  // namespace parlance::agent
