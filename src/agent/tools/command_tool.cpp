// Begin reading at command_tool.
#include "agent/tools/command_tool.h"

#include "agent/shell/program_run.h"

namespace parlance::agent {

namespace {

constexpr std::size_t kMostVariable = 100'000;  // bytes: the kernel takes no more of one

Program program_of(const CommandToolSpec& spec, const std::string& home, const std::string& arguments) {
  Program program{.command = spec.command, .environment = spec.environment, .home = home, .input = arguments + "\n"};
  program.environment.push_back("PARLANCE_TOOL=" + spec.name);
  if (arguments.size() < kMostVariable) program.environment.push_back("PARLANCE_ARGUMENTS=" + arguments);
  return program;
}

/// Of a success the result alone, which may be JSON; else all that there is to know.
std::string result_of(const RunResult& run, bool time) {
  if (!succeeded(run)) return text_of_run(run, time);
  std::string text = run.out.text;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty()) text = "(no output)";
  add_sentences(text, run.notes);
  return text;
}

}  // namespace

AgentTool command_tool(const Sandbox& sandbox, WorkspaceChanges& changes, const CommandToolSpec& spec,
                       const SandboxToolOptions& options) {
  const auto run = [&sandbox, &changes, spec, options](std::string_view given) -> Result<ToolOutcome> {
    const Result<std::string> arguments = fitting_arguments(spec.parameters, given);
    if (!arguments) return arguments.error();
    RunOptions limits = run_options(options, spec.timeout > 0 ? spec.timeout : options.timeout);
    limits.on_output = nullptr;  // the screen shows the result
    const Result<std::string> home = sandbox.home_of("tool-" + spec.name);
    if (!home) return home.error();
    changes.before_command();
    const Result<RunResult> result = run_program(sandbox, program_of(spec, *home, *arguments), limits);
    if (!result) return result.error();
    const std::vector<std::string> changed = changes.after_command(succeeded(*result));
    return ToolOutcome{.text = result_of(*result, true),
                       .succeeded = succeeded(*result),
                       .changed = !changed.empty(),
                       .changes = changes.names_of(changed),
                       .compared = result_of(*result, false),
                       .maybe_changed = !changed.empty() && !WorkspaceChanges::are_sure(changed)};
  };
  return {.name = spec.name, .description = spec.description, .parameters = spec.parameters, .run = run};
}

}  // namespace parlance::agent
