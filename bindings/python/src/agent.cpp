// The loop of an agent, for parlance.Agent in Python. Begin reading at run_agent.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <thread>
#include <utility>

#include "agent_models.h"
#include "fresh_lock.h"
#include "gil.h"
#include "objects.h"
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
/// The functions, as (events, approve, resolve, stopped).
using PyHooks = std::tuple<nb::object, nb::object, nb::object, nb::object>;

nb::dict event_of(const AgentEvent& event) {
  nb::dict made;
  made["event"] = str_of(name_of(event.kind));
  made["turn"] = event.turn;
  if (event.reply != nullptr) {
    made["kind"] = str_of(name_of(event.reply->kind));
    made["text"] = text_to_python(event.reply->text);
  }
  if (event.replied != nullptr) {
    made["content"] = text_to_python(event.replied->message.content);
    made["reasoning"] = text_to_python(event.replied->message.reasoning);
    made["prompt_tokens"] = event.replied->prompt_tokens;
    made["reused_tokens"] = event.replied->reused_tokens;
    made["sampled_tokens"] = event.replied->sampled_tokens;
    made["prefix_break"] =
        event.replied->prefix_break.empty() ? nb::none() : nb::object(text_to_python(event.replied->prefix_break));
  }
  if (!event.id.empty()) {
    made["id"] = text_to_python(event.id);
    made["name"] = text_to_python(event.name);
    made["arguments"] = text_to_python(event.arguments);
  }
  if (!event.text.empty() || event.outcome != nullptr) made["text"] = text_to_python(event.text);
  if (event.outcome != nullptr) {
    made["succeeded"] = event.outcome->succeeded;
    made["changed"] = event.outcome->changed;
  }
  return made;
}

nb::dict end_of(const AgentEnd& end) {
  nb::dict made;
  made["reason"] = str_of(name_of(end.reason));
  made["sentence"] = text_to_python(end.sentence);
  made["answer"] = text_to_python(end.answer);
  made["turns"] = end.turns;
  made["sampled_tokens"] = end.sampled_tokens;
  made["unverified"] = end.unverified;
  return made;
}

using YesOrWhy = std::pair<bool, std::string>;
/// Yes, or no and why. Throws TypeError for anything else: None, for one, is what a function without `return` gives.
YesOrWhy yes_or_why_not(const char* name, const nb::object& answer) {
  nb::object kept;
  if (nb::isinstance<nb::str>(answer)) return {false, std::string(utf8_of(answer, kept))};
  if (nb::isinstance<nb::bool_>(answer)) return {nb::cast<bool>(answer), ""};
  PyErr_Format(PyExc_TypeError, "%s says True, False or a text, not a %s", name, nb::type_name(answer.type()).c_str());
  throw nb::python_error();
}

/// Functions of Python that the loop calls. Once one of them has raised, none is called any more, and the run ends.
struct Hooks {
  nb::object events, approve, resolve, stopped;
  Raised& raised;
  std::vector<std::string> running{};  ///< ids of calls that have begun, and have no outcome yet

  void tell(const AgentEvent& event) {
    if (raised) return;
    if (event.kind == AgentEvent::Kind::call) running.emplace_back(event.id);
    if (event.kind == AgentEvent::Kind::outcome) std::erase(running, event.id);
    if (events.is_none()) return;
    const bool is_told = raised.calling([&] { return call_python(events, event_of(event)).is_valid(); }).has_value();
    if (!is_told) std::erase(running, event.id);  // it does not begin
  }
  Approval ask(std::string_view name, std::string_view arguments) {
    if (approve.is_none()) return {};
    std::optional<YesOrWhy> said = answer("approve", approve, name, arguments);
    if (!said) return {.stops = true};
    return {.allowed = said->first, .reason = std::move(said->second)};
  }
  Resolution resolved(const InterruptedCall& call) {
    if (resolve.is_none()) return {};
    std::optional<YesOrWhy> said = answer("resolve", resolve, call.name, call.arguments);
    if (!said) return {.stops = true};
    Resolution made{.again = said->first};
    if (!said->second.empty()) made.told = std::move(said->second);
    return made;
  }
  bool wants_end() {
    if (PyErr_CheckSignals() != 0) (void)raised.calling([]() -> bool { throw nb::python_error(); });
    if (raised || stopped.is_none()) return static_cast<bool>(raised);
    const Result<bool> said = raised.calling([&] { return nb::cast<bool>(nb::bool_(call_python(stopped))); });
    return !said || *said;
  }

 private:
  std::optional<YesOrWhy> answer(const char* name, const nb::object& hook, std::string_view tool,
                                 std::string_view arguments) {
    Result<YesOrWhy> said = raised.calling(
        [&] { return yes_or_why_not(name, call_python(hook, text_to_python(tool), text_to_python(arguments))); });
    return said ? std::optional(*std::move(said)) : std::nullopt;
  }
};

/// An Exception of its function is told to the model; what is none, such as KeyboardInterrupt, ends the run.
AgentTool tool_of(const PyTool& given, Raised& raised) {
  const auto& [name, description, parameters, function] = given;
  const auto run = [parameters = parameters, function = function,
                    &raised](std::string_view arguments) -> Result<ToolOutcome> {
    if (raised) return ToolOutcome{.interrupted = true};
    if (const Result<std::string> fitting = fitting_arguments(parameters, arguments); !fitting) return fitting.error();
    Result<ToolOutcome> outcome = raised.calling([&] {
      const auto [said, succeeded, changed] =
          nb::cast<std::tuple<std::string, bool, bool>>(call_python(function, text_to_python(arguments)));
      return ToolOutcome{.text = said, .succeeded = succeeded, .changed = changed};
    });
    return outcome ? outcome : ToolOutcome{.interrupted = true};
  };
  return {.name = name, .description = description, .parameters = parameters, .run = run};
}

AgentOptions options_of(const std::vector<PyTool>& tools, PyTask task, const PyLimits& limits, Hooks& hooks) {
  AgentOptions options;
  std::tie(options.goal, options.system, options.verify) = std::move(task);
  for (const PyTool& tool : tools) options.tools.push_back(tool_of(tool, hooks.raised));
  std::tie(options.limits.turns, options.limits.tokens, options.limits.seconds, options.limits.repeats,
           options.limits.refusals) = limits;
  options.events = [&hooks](const AgentEvent& event) { hooks.tell(event); };
  options.approve = [&hooks](std::string_view name, std::string_view arguments) { return hooks.ask(name, arguments); };
  options.resolve = [&hooks](const InterruptedCall& call) { return hooks.resolved(call); };
  options.stopped = [&hooks] { return hooks.wants_end(); };
  return options;
}

/// An earlier run, or this one behind its end.
struct PyAgentHistory {
  AgentHistory history;
  Arguments arguments = Arguments::objects;
};

/// Templates may leave out what has no role, or take it for somebody else's.
void check_roles(const Conversation& conversation) {
  int at = 0;
  for (const Value& message : conversation.messages().items()) {
    const Value role = message["role"];
    const std::string path = "messages[" + std::to_string(at++) + "]";
    if (!role.is_string() || role.text().empty())
      raise_at(PyExc_ValueError, path + (role.is_undefined() ? "" : ".role"),
               "a message has a role, such as \"user\" or \"assistant\"");
  }
}

/// Of messages that are given, each call of whose last reply may have run: unless it is known which have.
void read_history(PyAgentHistory* self, nb::handle messages, bool unverified,
                  const std::optional<std::vector<std::string>>& running) {
  const Conversation read = conversation_of(messages);
  check_roles(read);
  AgentHistory made{.messages = messages_from(read, 0), .unverified = unverified};
  for (const Value& message : read.messages().items())
    for (const Value& call : message["tool_calls"].items()) made.running.emplace_back(call["id"].text());
  if (running) made.running = *running;
  new (self) PyAgentHistory{std::move(made)};
}

/// The messages of an agent that runs. Threads: any. Without a GIL, other threads see them where they would with it:
/// while a function of Python's runs.
class RunningMessages {
 public:
  explicit RunningMessages(const Agent& agent) : agent_(&agent) {}
  /// Unset: it runs no more.
  std::optional<std::vector<Message>> now() {
    std::optional<LockGuard> guard;
    if (runner_ != std::this_thread::get_id())
      guard.emplace(lock_.now());  // a signal's handler runs on the agent's thread
    if (agent_ == nullptr) return std::nullopt;
    return std::vector<Message>(agent_->messages().begin(), agent_->messages().end());
  }
  nb::ft_mutex& lock() { return lock_.now(); }
  void end() { agent_ = nullptr; }

 private:
  FreshLock lock_;
  const Agent* agent_;
  const std::thread::id runner_ = std::this_thread::get_id();
};

/// While it lives, the agent's messages can be asked for by a function of Python, which `started` gets, and the model
/// has its function.
class RunningModel {
 public:
  RunningModel(PyAgentModel& model, PyAgentModel::Running running, const Agent& agent, const nb::object& started)
      : model_(model), before_(model.running), messages_(std::make_shared<RunningMessages>(agent)) {
    const Arguments arguments = model.arguments();
    call_python(started, nb::cpp_function([kept = messages_, arguments]() -> nb::object {
                  const std::optional<std::vector<Message>> now = kept->now();
                  return now ? nb::object(list_of(*now, arguments)) : nb::none();
                }));
    model_.running = running;
    at_lock([&] { held_.lock(); });
    running.raised->hold(&held_);
  }
  RunningModel(const RunningModel&) = delete;
  ~RunningModel() {
    model_.running.raised->hold(nullptr);
    model_.running = before_;
    messages_->end();
    held_.unlock();
  }

 private:
  PyAgentModel& model_;
  const PyAgentModel::Running before_;
  const std::shared_ptr<RunningMessages> messages_;
  nb::ft_mutex& held_ = messages_->lock();
};

/// `function` samples or replies; `earlier` is the run that goes on, if one does. `behind` gets what there is at the
/// end, also where something was raised.
nb::dict run_agent(PyAgentModel& model, nb::object function, const std::vector<PyTool>& tools, const PyTask& task,
                   const PyLimits& limits, PyHooks given, const PyAgentHistory* earlier, nb::object started,
                   PyAgentHistory& behind) {
  auto& [events, approve, resolve, stopped] = given;
  Raised raised;
  Hooks hooks{std::move(events), std::move(approve), std::move(resolve), std::move(stopped), raised};
  Agent agent(model.model(), options_of(tools, task, limits, hooks));
  const InUse::Entered in_use = model.in_use.enter("agent's model");
  const AgentEnd end = [&] {
    const RunningModel running(model, {function, &raised}, agent, started);
    const std::size_t known = std::exchange(model.known, 0);
    return earlier != nullptr ? agent.resume(earlier->history, known) : agent.run();
  }();
  behind.history = {.messages = agent.messages(), .unverified = end.unverified, .running = std::move(hooks.running)};
  behind.arguments = model.arguments();
  (void)raised.calling([] { return raise_kept(), true; });
  raised.raise_again();
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
  nb::class_<PyAgentHistory>(module, "_AgentHistory", "What an agent's run has done.")
      .def("__init__", [](PyAgentHistory* self) { new (self) PyAgentHistory{}; })
      .def("__init__", &read_history, "messages"_a, "unverified"_a, "running"_a.none())
      .def(
          "changed",
          [](const PyAgentHistory& self, bool unverified) {
            PyAgentHistory made = self;
            made.history.unverified = unverified;
            return made;
          },
          "unverified"_a)
      .def_prop_ro("messages",
                   [](const PyAgentHistory& self) { return list_of(self.history.messages, self.arguments); })
      .def_prop_ro("unverified", [](const PyAgentHistory& self) { return self.history.unverified; });
  module.def("_run_agent", &run_agent, "model"_a, "function"_a, "tools"_a, "task"_a, "limits"_a, "hooks"_a,
             "earlier"_a.none(), "started"_a, "behind"_a);
}

}  // namespace parlance::python
