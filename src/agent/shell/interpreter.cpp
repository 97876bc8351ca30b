// Starts Python with a driver of ours (python_driver.inc). Begin reading at Interpreter::run.
#include "agent/shell/interpreter.h"

#include <utility>

namespace parlance::agent {

namespace {

constexpr const char* kDriver =
#include "agent/shell/python_driver.inc"
    ;

ResidentKind python(const Sandbox& sandbox) {
  const std::string control = sandbox.control_inside();
  ResidentKind kind;
  kind.name = "python";
  kind.command = {"/usr/bin/env",
                  "python3",
                  "-u",
                  control + "/python.driver",
                  control,
                  std::to_string(sandbox.process_limit()),
                  "{}"};
  kind.run_line = "{}";
  kind.scripts = {{"driver", kDriver}};
  return kind;
}

/// What a person would be told, for the model.
std::string explanation(const CodeResult& result) {
  std::string text;
  for (const std::string& note : result.run.notes) text += note + "\n";
  if (result.run.end == RunEnd::timed_out) text += "TimeoutError: the code was interrupted.\n";
  if (result.run.end == RunEnd::cancelled) text += "KeyboardInterrupt: the user interrupted the code.\n";
  if (result.run.end == RunEnd::waits_for_input)
    text += "EOFError: the code waited for input, and nobody types here.\n";
  if (result.run.end == RunEnd::too_much_output) text += "The code was interrupted: it printed too much.\n";
  if (result.restarted) text += "Python ended, and was started again: all variables are gone.\n";
  return text;
}

}  // namespace

std::string CodeResult::text() const {
  std::string text = run.out.text;
  for (const std::string& more : {run.err.text, explanation(*this)}) {
    if (!text.empty() && text.back() != '\n' && !more.empty()) text += '\n';
    text += more;
  }
  return text;
}

std::string CodeResult::observation() const {
  std::string said = text();
  if (!said.empty() && said.back() != '\n') said += '\n';
  return "```result\n" + said + "```";
}

Result<CodeResult> Interpreter::run(const std::string& code, const RunOptions& options) {
  CodeResult result;
  if (!python_ || python_->ended()) {
    result.restarted = std::exchange(was_started_, false);
    python_.reset();
    Result<std::unique_ptr<Resident>> started =
        Resident::start(sandbox_, python(sandbox_), sandbox_.policy().workspace);
    if (!started) return started.error();
    python_ = std::move(*started);
    was_started_ = true;
  }
  Result<RunResult> run = python_->run(code, options);
  if (!run) return run.error();
  result.run = std::move(*run);
  result.failed = result.run.end != RunEnd::finished || result.run.status != 0;
  if (python_->ended()) {
    result.restarted = true;
    was_started_ = false;
    python_.reset();
  }
  return result;
}

}  // namespace parlance::agent
