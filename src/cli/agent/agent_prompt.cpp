// Begin reading at speaks_of_tool.
#include "cli/agent/agent_prompt.h"

#include <algorithm>

#include "cli/input.h"
#include "parlance/agent.h"
#include "parlance/json_writer.h"

namespace parlance::cli {
namespace {

constexpr const char* kTerminal =
    "You work at a terminal@, on a goal that you are given. You alone act: nobody answers questions, and you go on "
    "until the goal is reached.\n"
    "\n"
    "1. Plan: before you act, think about the steps that lead to the goal.\n"
    "2. Execute: call `terminal` with one command at a time. The shell stays, with its folder and variables.\n"
    "3. Observe: read the exit status, stdout and stderr. They are all that you know of the system.\n"
    "4. Adapt: after a success, take the next step. After a failure, find its cause and mend it: a missing file, "
    "program or right is a step of the plan, and no reason to stop.\n"
    "5. Verify: at the end, run a command that changes nothing and shows that the goal is reached, such as ls -l, cat, "
    "git status or the tests.\n"
    "\n"
    "Only after that, reply without a call, and say in a few words what was done.";

constexpr const char* kInterpreter =
    "You are connected to a computer@. To use it, write Python code, which the interpreter runs: its "
    "variables stay, and you see what it prints, the value of its last expression, and errors, which you mend. Take "
    "one step at a time until the goal is reached, and verify it before you say so.";

std::string with_network(std::string text, bool has_network) {
  return text.replace(text.find('@'), 1, has_network ? " with a network" : " without a network");
}

}  // namespace

bool speaks_of_tool(const RequestReader& reader, const RenderOptions& options, const std::string& tool) {
  JsonWriter function('{');
  function.text("name", tool).text("description", "").raw("parameters", kNoParameters);
  const std::string tools = JsonWriter('{').text("type", "function").raw("function", function.take()).take();
  const Result<ChatRequest> request =
      reader.read(R"({"messages": [{"role": "user", "content": "Begin."}], "tools": [)" + tools + "]}");
  if (!request) return false;
  RenderOptions with_spans = options;
  with_spans.want_spans = true;
  const Result<Rendering> prompt = reader.render(*request, with_spans);
  if (!prompt) return false;
  return std::any_of(prompt->spans().begin(), prompt->spans().end(), [&](const Span& span) {
    const std::string_view text = prompt->text().substr(span.begin, span.end - span.begin);
    return span.origin == Origin::literal && text.find(tool) != text.npos;
  });
}

std::string terminal_system(bool has_network) { return with_network(kTerminal, has_network); }
std::string interpreter_system(bool has_network) { return with_network(kInterpreter, has_network); }

Result<std::string> read_system(const std::string& given) {
  if (!given.starts_with('@')) return given;
  Result<std::string> text = read_input(given.substr(1), "the system message");
  while (text && text->ends_with('\n')) text->pop_back();
  return text;
}

}  // namespace parlance::cli
