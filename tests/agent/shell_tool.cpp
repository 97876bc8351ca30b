// Drives the shell and the interpreter of the agent: reads lines of JSON, {"command"} or {"code"} with "timeout", and
// writes a line of JSON for each. The tests in Python are around it.
//
//   shell_tool WORKSPACE KIND [key=value...]
//
// KIND is bubblewrap, landlock, none or best; keys are processes, memory, groups, network, shown, file, stop, patience,
// grace, readable, writable, environment.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "agent/sandbox/sandbox.h"
#include "agent/shell/interpreter.h"
#include "agent/shell/shell.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"

namespace {

using namespace parlance;
using namespace parlance::agent;

struct Settings {
  SandboxPolicy policy;
  RunOptions options;
};

void set(Settings& settings, const std::string& key, const std::string& value) {
  const std::uint64_t number = std::strtoull(value.c_str(), nullptr, 10);
  if (key == "processes") settings.policy.limits.processes = number;
  if (key == "memory") settings.policy.limits.memory = number;
  if (key == "file_size") settings.policy.limits.file_size = number;
  if (key == "groups") settings.policy.control_groups = number != 0;
  if (key == "network") settings.policy.network = number != 0;
  if (key == "readable") settings.policy.readable.push_back(value);
  if (key == "writable") settings.policy.writable.push_back(value);
  if (key == "environment") settings.policy.environment.push_back(value);
  if (key == "shown") settings.options.output.shown = number;
  if (key == "file") settings.options.output.file = number;
  if (key == "stop") settings.options.output.stop = number;
  if (key == "patience") settings.options.patience = std::strtod(value.c_str(), nullptr);
  if (key == "grace") settings.options.grace = std::strtod(value.c_str(), nullptr);
}

Result<Sandbox> open_sandbox(const SandboxPolicy& policy, const std::string& kind) {
  for (const SandboxKind each : {SandboxKind::bubblewrap, SandboxKind::landlock, SandboxKind::none}) {
    if (kind == name_of(each)) return Sandbox::open(policy, each);
  }
  return Sandbox::open(policy);
}

std::string output_json(const Output& output) {
  JsonWriter writer('{');
  writer.text("text", output.text).number("bytes", static_cast<std::int64_t>(output.bytes)).flag("cut", output.cut);
  return writer.text("file", output.file).take();
}

void write_run(JsonWriter& writer, const RunResult& run) {
  writer.text("end", name_of(run.end));
  if (run.status) writer.number("status", *run.status);
  writer.raw("out", output_json(run.out)).raw("err", output_json(run.err));
  writer.raw("seconds", std::to_string(run.seconds)).text("folder", run.folder);
  JsonWriter jobs('['), notes('[');
  for (const int job : run.background_jobs) jobs.item(std::to_string(job));
  for (const std::string& note : run.notes) notes.item_text(note);
  writer.raw("jobs", jobs.take()).raw("notes", notes.take());
}

std::string error_json(const Error& error) {
  return JsonWriter('{').text("error", error.message()).text("hint", error.hint()).take();
}

void say(const std::string& line) { std::cout << line << std::endl; }

std::string answer_to(Value request, PersistentShell& shell, Interpreter& python, RunOptions options) {
  const Value timeout = request["timeout"];
  if (timeout.is(Kind::integer)) options.timeout = static_cast<double>(timeout.integer);
  if (timeout.is(Kind::real)) options.timeout = timeout.real;
  if (request["cancel"].is(Kind::boolean)) options.cancel = STDIN_FILENO;
  JsonWriter writer('{');
  if (request["code"].is_string()) {
    Result<CodeResult> result = python.run(std::string(request["code"].text()), options);
    if (!result) return error_json(result.error());
    write_run(writer, result->run);
    writer.flag("failed", result->failed).flag("restarted", result->restarted);
    return writer.text("observation", result->observation()).take();
  }
  Result<CommandResult> result = shell.run(std::string(request["command"].text()), options);
  if (!result) return error_json(result.error());
  write_run(writer, result->run);
  return writer.flag("restarted", result->restarted).flag("restored", result->restored).take();
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  Settings settings;
  settings.policy.workspace = arguments[1];
  for (int each = 3; each < count; ++each) {
    const std::string pair = arguments[each];
    const std::size_t at = pair.find('=');
    if (at != std::string::npos) set(settings, pair.substr(0, at), pair.substr(at + 1));
  }
  Result<Sandbox> sandbox = open_sandbox(settings.policy, arguments[2]);
  if (!sandbox) {
    say(error_json(sandbox.error()));
    return 1;
  }
  say(JsonWriter('{')
          .text("kind", name_of(sandbox->kind()))
          .text("reason", sandbox->reason())
          .number("pid", getpid())
          .number("process_limit", static_cast<std::int64_t>(sandbox->process_limit()))
          .take());
  PersistentShell shell(*sandbox);
  Interpreter python(*sandbox);
  for (std::string line; std::getline(std::cin, line);) {
    Document request;
    if (!request.parse(line)) return 2;
    say(answer_to(request.root(), shell, python, settings.options));
  }
  return 0;
}
