// The loop of an agent, for parlance.Agent in Python. Begin reading at run_agent.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "agent_models.h"
#include "parlance/sampled_reply.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

/// Name, description, JSON Schema of the arguments, and a function from their JSON to (text, succeeded, changed).
using PyTool = std::tuple<std::string, std::string, std::string, nb::object>;
/// The goal, the system message, and whether what was changed is to be verified.
using PyTask = std::tuple<std::string, std::string, bool>;
/// Of turns, tokens, seconds, repeats and refusals.
using PyLimits = std::tuple<unsigned, std::size_t, double, unsigned, unsigned>;
/// An earlier run: its messages, and whether its last change is not verified.
using PyHistory = std::tuple<nb::object, bool>;

nb::dict event_of(const AgentEvent& event) {
  nb::dict made;
  made["event"] = str_of(name_of(event.kind));
  made["turn"] = event.turn;
  if (event.reply != nullptr) {
    made["kind"] = str_of(name_of(event.reply->kind));
    made["text"] = str_of(event.reply->text);
  }
  if (event.replied != nullptr) {
    made["content"] = str_of(event.replied->message.content);
    made["reasoning"] = str_of(event.replied->message.reasoning);
    made["prompt_tokens"] = event.replied->prompt_tokens;
    made["reused_tokens"] = event.replied->reused_tokens;
    made["sampled_tokens"] = event.replied->sampled_tokens;
    made["prefix_break"] =
        event.replied->prefix_break.empty() ? nb::none() : nb::object(str_of(event.replied->prefix_break));
  }
  if (!event.id.empty()) {
    made["id"] = str_of(event.id);
    made["name"] = str_of(event.name);
    made["arguments"] = str_of(event.arguments);
  }
  if (!event.text.empty() || event.outcome != nullptr) made["text"] = str_of(event.text);
  if (event.outcome != nullptr) {
    made["succeeded"] = event.outcome->succeeded;
    made["changed"] = event.outcome->changed;
  }
  return made;
}

nb::dict end_of(const AgentEnd& end) {
  nb::dict made;
  made["reason"] = str_of(name_of(end.reason));
  made["sentence"] = str_of(end.sentence);
  made["answer"] = str_of(end.answer);
  made["turns"] = end.turns;
  made["sampled_tokens"] = end.sampled_tokens;
  made["unverified"] = end.unverified;
  return made;
}

/// Yes, or no and why. Throws TypeError for anything else: None, for one, is what a function without `return` gives.
std::pair<bool, std::string> yes_or_why_not(const char* name, const nb::object& answer) {
  if (nb::isinstance<nb::str>(answer)) return {false, nb::cast<std::string>(answer)};
  if (nb::isinstance<nb::bool_>(answer)) return {nb::cast<bool>(answer), ""};
  PyErr_Format(PyExc_TypeError, "%s says True, False or a text, not a %s", name, nb::type_name(answer.type()).c_str());
  throw nb::python_error();
}

/// Functions of Python that the loop calls, and whether one of them raised.
struct Hooks {
  nb::object events, approve, resolve, stopped;
  bool raised = false;
  bool raised_in_tool = false;

  void tell(const AgentEvent& event) {
    if (events.is_none() || raised) return;
    raised = !calling([&] {
      events(event_of(event));
      return true;
    });
  }
  Approval ask(std::string_view name, std::string_view arguments) {
    if (approve.is_none()) return {};
    auto [allowed, reason] = answer("approve", approve, name, arguments);
    return {.allowed = allowed, .reason = std::move(reason)};
  }
  Resolution resolved(const InterruptedCall& call) {
    if (resolve.is_none()) return {};
    auto [again, told] = answer("resolve", resolve, call.name, call.arguments);
    Resolution made{.again = again};
    if (!told.empty()) made.told = std::move(told);
    return made;
  }
  bool wants_end() {
    if (raised || stopped.is_none()) return raised;
    const Result<bool> said = calling([&] { return nb::cast<bool>(nb::bool_(stopped())); });
    raised = !said;
    return raised || *said;
  }

 private:
  std::pair<bool, std::string> answer(const char* name, const nb::object& hook, std::string_view tool,
                                      std::string_view arguments) {
    Result<std::pair<bool, std::string>> said =
        calling([&] { return yes_or_why_not(name, hook(str_of(tool), str_of(arguments))); });
    if (said) return *std::move(said);
    raised = true;
    return {false, ""};
  }
};

/// The functions, as (events, approve, resolve, stopped).
using PyHooks = std::tuple<nb::object, nb::object, nb::object, nb::object>;

/// An Exception of its function is told to the model; what is none, such as KeyboardInterrupt, ends the run.
AgentTool tool_of(const PyTool& given, Hooks& hooks) {
  const auto& [name, description, parameters, function] = given;
  const auto run = [function = function, &hooks](std::string_view arguments) -> Result<ToolOutcome> {
    Result<ToolOutcome> outcome = calling([&] {
      const auto [said, succeeded, changed] =
          nb::cast<std::tuple<std::string, bool, bool>>(function(str_of(arguments)));
      return ToolOutcome{.text = said, .succeeded = succeeded, .changed = changed};
    });
    if (!outcome) hooks.raised = hooks.raised_in_tool = true;
    return outcome;
  };
  return {.name = name, .description = description, .parameters = parameters, .run = run};
}

AgentOptions options_of(const std::vector<PyTool>& tools, PyTask task, const PyLimits& limits, Hooks& hooks) {
  AgentOptions options;
  std::tie(options.goal, options.system, options.verify) = std::move(task);
  for (const PyTool& tool : tools) options.tools.push_back(tool_of(tool, hooks));
  std::tie(options.limits.turns, options.limits.tokens, options.limits.seconds, options.limits.repeats,
           options.limits.refusals) = limits;
  options.events = [&hooks](const AgentEvent& event) { hooks.tell(event); };
  options.approve = [&hooks](std::string_view name, std::string_view arguments) { return hooks.ask(name, arguments); };
  options.resolve = [&hooks](const InterruptedCall& call) { return hooks.resolved(call); };
  options.stopped = [&hooks] { return hooks.raised || PyErr_CheckSignals() != 0 || hooks.wants_end(); };
  return options;
}

/// Nobody knows whether its open calls have run: each is one that had begun.
AgentHistory history_of(const PyHistory& given) {
  const auto& [messages, unverified] = given;
  const Conversation read = conversation_of(messages);
  AgentHistory made{.messages = messages_from(read, 0), .unverified = unverified};
  for (const Value& message : read.messages().items())
    for (const Value& call : message["tool_calls"].items()) made.running.emplace_back(call["id"].text());
  return made;
}

/// While it lives, the agent's messages can be asked for by a function of Python, which `started` gets, and the model
/// has its function.
class Running {
 public:
  Running(PyAgentModel& model, nb::handle function, const Agent& agent, const nb::object& started)
      : model_(model), agent_(std::make_shared<const Agent*>(&agent)) {
    model_.function = function;
    started(nb::cpp_function([kept = agent_]() -> nb::object {
      return *kept == nullptr ? nb::none() : nb::object(list_of((*kept)->messages()));
    }));
  }
  Running(const Running&) = delete;
  ~Running() {
    model_.function = nb::handle();
    *agent_ = nullptr;
  }

 private:
  PyAgentModel& model_;
  std::shared_ptr<const Agent*> agent_;
};

/// What a function or a signal's handler raised.
std::optional<nb::python_error> raised_within() {
  try {
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    raise_kept();
  } catch (nb::python_error& error) {
    return std::move(error);
  }
  return std::nullopt;
}

/// `function` samples or replies; `earlier` is the run that goes on, if one does. `messages` gets those there are at
/// the end, also where something was raised.
nb::dict run_agent(PyAgentModel& model, nb::object function, const std::vector<PyTool>& tools, const PyTask& task,
                   const PyLimits& limits, PyHooks given, const std::optional<PyHistory>& earlier, nb::object started,
                   nb::list messages) {
  auto& [events, approve, resolve, stopped] = given;
  Hooks hooks{std::move(events), std::move(approve), std::move(resolve), std::move(stopped)};
  std::optional<AgentHistory> history;
  if (earlier) history = history_of(*earlier);
  Agent agent(model.model(), options_of(tools, task, limits, hooks));
  const Running running(model, function, agent, started);
  const std::size_t known = std::exchange(model.known, 0);
  const AgentEnd end = history ? agent.resume(*std::move(history), known) : agent.run();
  std::optional<nb::python_error> raised = raised_within();
  // Of a call that was interrupted nobody knows the result.
  const std::span<const Message> all(agent.messages());
  messages.extend(list_of(all.first(all.size() - (hooks.raised_in_tool ? 1 : 0))));
  if (raised) throw *std::move(raised);
  if (end.error) raise(*end.error);
  model.known = agent.known();
  return end_of(end);
}

}  // namespace

void bind_agent(nb::module_& module) {
  nb::class_<PyAgentModel>(module, "_AgentModel", "Who replies to an agent.")
      .def(
          "__init__",
          [](PyAgentModel* self, std::shared_ptr<const Engine> engine, const PyTokenizer& tokenizer,
             const std::optional<std::string>& grammar, std::optional<std::size_t> context) {
            new (self) PyAgentModel(std::move(engine), tokenizer, grammar, context);
          },
          "engine"_a, "tokenizer"_a, "grammar"_a.none(), "context"_a.none())
      .def(nb::init<std::optional<std::size_t>>(), "context"_a.none());
  module.def("_run_agent", &run_agent, "model"_a, "function"_a, "tools"_a, "task"_a, "limits"_a, "hooks"_a,
             "earlier"_a.none(), "started"_a, "messages"_a);
}

}  // namespace parlance::python
