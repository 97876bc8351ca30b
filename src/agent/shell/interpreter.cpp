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
  kind.title = "Python";
  kind.command = {
      "/usr/bin/env", "python3", "-u", control + "/python.driver", control, std::to_string(sandbox.process_limit())};
  kind.run_line = "{}";
  kind.has_lines = true;
  kind.scripts = {{"driver", kDriver}};
  return kind;
}

}  // namespace

std::vector<std::string> CodeResult::notes() const {
  std::vector<std::string> notes = run.notes;
  if (run.end == RunEnd::timed_out) notes.push_back("TimeoutError: the code was interrupted.");
  if (run.end == RunEnd::cancelled) notes.push_back("KeyboardInterrupt: the user interrupted the code.");
  if (run.end == RunEnd::waits_for_input)
    notes.push_back("EOFError: the code waited for input, and nobody types here.");
  if (run.end == RunEnd::too_much_output) notes.push_back("The code was interrupted: it printed too much.");
  if (run.end == RunEnd::never_ran)
    notes.push_back("RuntimeError: the code did not run, as Python had ended before it.");
  const std::string ended = run.end == RunEnd::program_ended ? how_it_ended("Python", run) : "Python ended";
  if (restarted) notes.push_back(ended + ", and was started again: all variables are gone.");
  return notes;
}

std::string CodeResult::text() const {
  std::string text = run.out.text, explanation;
  for (const std::string& note : notes()) explanation += note + "\n";
  for (const std::string& more : {run.err.text, explanation}) {
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
