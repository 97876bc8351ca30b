// Begin reading at text_of_run.
#include "agent/tools/run_text.h"

#include <algorithm>
#include <cstdio>

namespace parlance::agent {

namespace {

std::string line_of_end(const RunResult& run) {
  const std::string status = run.status ? "exit status " + std::to_string(*run.status) : "no exit status";
  switch (run.end) {
    case RunEnd::finished: return status;
    case RunEnd::timed_out: return "interrupted: its time was over";
    case RunEnd::cancelled: return "interrupted by the user";
    case RunEnd::waits_for_input: return "interrupted: it waited for input, and nobody types here";
    case RunEnd::too_much_output: return "interrupted: too much output";
    case RunEnd::program_ended: return how_it_ended("the shell", run);
    case RunEnd::never_ran: return "it did not run: the shell could run nothing any more";
  }
  return status;
}

void add_output(std::string& text, std::string_view name, const Output& output) {
  if (output.text.empty()) return;
  text.append("\n").append(name).append(":\n").append(output.text);
  if (text.back() == '\n') text.pop_back();
}

}  // namespace

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

std::string status_of_run(const RunResult& run) { return line_of_end(run) + ", " + seconds_text(run.seconds); }

double seconds_for(const SandboxToolOptions& options, double wished) {
  if (options.remaining) wished = std::min(wished, options.remaining());
  return std::clamp(wished, 0.1, options.longest);
}

RunOptions run_options(const SandboxToolOptions& options, double timeout) {
  return {.timeout = seconds_for(options, timeout),
          .output = options.output,
          .on_output = options.on_output,
          .cancel = options.cancel};
}

void tell_output_end(const SandboxToolOptions& options, const RunResult& run) {
  if (!options.on_output_end) return;
  options.on_output_end(Stream::out, run.out);
  options.on_output_end(Stream::err, run.err);
}

/// `exit 0` ends the shell, and is a success as `exit 0` is of any script.
bool succeeded(const RunResult& run) {
  return (run.end == RunEnd::finished || run.end == RunEnd::program_ended) && run.status == 0;
}

void add_sentences(std::string& text, const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) text.append("\n[").append(sentence).append("]");
}

std::string text_of_run(const RunResult& run, bool time) {
  std::string text = time ? status_of_run(run) : line_of_end(run);
  add_output(text, "stdout", run.out);
  add_output(text, "stderr", run.err);
  if (run.out.text.empty() && run.err.text.empty()) text += "\n(no output)";
  add_sentences(text, run.notes);
  return text;
}

}  // namespace parlance::agent
