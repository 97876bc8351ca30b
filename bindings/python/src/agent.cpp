// The loop of an agent, for parlance.Agent in Python. Begin reading at run_agent.
#include "parlance/agent.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "grammars.h"
#include "objects.h"
#include "parlance/json_writer.h"
#include "prompt.h"
#include "tokenizers.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

/// Name, description, JSON Schema of the arguments, and a function from their JSON to (text, succeeded, changed).
using PyTool = std::tuple<std::string, std::string, std::string, nb::object>;

nb::str text(std::string_view from) { return nb::str(from.data(), from.size()); }

/// What Python raised ends the run, and is raised again behind it.
template <typename Call>
auto calling(const Call& call) -> Result<decltype(call())> {
  try {
    return call();
  } catch (nb::python_error& error) {
    keep_raised(error);
    return Error(ErrorCode::python_runtime, error.what());
  } catch (const nb::cast_error&) {
    return Error(ErrorCode::type, "a function of the agent's gave something of another type");
  }
}

AgentTool tool_of(const PyTool& given) {
  const auto& [name, description, parameters, function] = given;
  const auto run = [function = function](std::string_view arguments) -> Result<ToolOutcome> {
    return calling([&] {
      const auto [said, succeeded, changed] = nb::cast<std::tuple<std::string, bool, bool>>(function(text(arguments)));
      return ToolOutcome{.text = said, .succeeded = succeeded, .changed = changed};
    });
  };
  return {.name = name, .description = description, .parameters = parameters, .run = run};
}

/// `sample(ids, grammar, stop_tokens)` gives the tokens one after the other; it ends before a stop token if a limit
/// ended it.
std::function<Result<bool>(const SampleRequest&)> sampler_of(const nb::object& sample) {
  return [sample](const SampleRequest& asked) -> Result<bool> {
    return calling([&] {
      const std::vector<TokenId> ids(asked.ids.begin(), asked.ids.end()),
          stops(asked.stop_tokens.begin(), asked.stop_tokens.end());
      const nb::object grammar = asked.grammar.empty() ? nb::none() : nb::object(text(asked.grammar));
      bool ended = false;
      std::size_t count = 0;
      for (const nb::handle one : nb::iter(sample(nb::cast(ids), grammar, nb::cast(stops)))) {
        const TokenId id = id_of(one);
        asked.take(id);
        ended = std::find(stops.begin(), stops.end(), id) != stops.end();
        if (ended || ++count == asked.most_tokens) break;
        if (asked.deadline && std::chrono::steady_clock::now() >= *asked.deadline) break;
      }
      return !ended;
    });
  };
}

nb::dict event_of(const AgentEvent& event) {
  nb::dict made;
  made["event"] = text(name_of(event.kind));
  made["turn"] = event.turn;
  if (event.reply != nullptr) {
    made["kind"] = text(name_of(event.reply->kind));
    made["text"] = text(event.reply->text);
  }
  if (event.replied != nullptr) {
    made["content"] = text(event.replied->message.content);
    made["reasoning"] = text(event.replied->message.reasoning);
    made["prompt_tokens"] = event.replied->prompt_tokens;
    made["reused_tokens"] = event.replied->reused_tokens;
    made["sampled_tokens"] = event.replied->sampled_tokens;
    made["prefix_break"] =
        event.replied->prefix_break.empty() ? nb::none() : nb::object(text(event.replied->prefix_break));
  }
  if (!event.id.empty()) {
    made["id"] = text(event.id);
    made["name"] = text(event.name);
    made["arguments"] = text(event.arguments);
  }
  if (!event.text.empty() || event.outcome != nullptr) made["text"] = text(event.text);
  if (event.outcome != nullptr) {
    made["succeeded"] = event.outcome->succeeded;
    made["changed"] = event.outcome->changed;
  }
  return made;
}

nb::dict end_of(const AgentEnd& end) {
  nb::dict made;
  made["reason"] = text(name_of(end.reason));
  made["sentence"] = text(end.sentence);
  made["answer"] = text(end.answer);
  made["turns"] = end.turns;
  made["sampled_tokens"] = end.sampled_tokens;
  return made;
}

/// Throws TypeError where `approve` says neither yes nor no: None, for one, is what a function without `return` gives.
Approval approval_of(const nb::object& answer) {
  if (nb::isinstance<nb::str>(answer)) return {.allowed = false, .reason = nb::cast<std::string>(answer)};
  if (nb::isinstance<nb::bool_>(answer)) return {.allowed = nb::cast<bool>(answer)};
  PyErr_Format(PyExc_TypeError, "approve says True, False or a text with the reason, not a %s",
               nb::type_name(answer.type()).c_str());
  throw nb::python_error();
}

/// Functions of Python that the loop calls, and what of theirs was raised.
struct Hooks {
  nb::object events, approve, stopped;
  bool raised = false;

  void tell(const AgentEvent& event) {
    if (events.is_none() || raised) return;
    raised = !calling([&] {
      events(event_of(event));
      return true;
    });
  }
  Approval ask(std::string_view name, std::string_view arguments) {
    if (approve.is_none()) return {};
    const Result<Approval> said = calling([&] { return approval_of(approve(text(name), text(arguments))); });
    if (said) return *said;
    raised = true;
    return {.allowed = false};
  }
  bool wants_end() {
    if (raised || stopped.is_none()) return raised;
    const Result<bool> said = calling([&] { return nb::cast<bool>(nb::bool_(stopped())); });
    raised = !said;
    return raised || *said;
  }
};

/// As a request has them. Of what was told nothing is missing but what a full context left out.
void take_messages(const std::vector<Message>& from, nb::list& into) {
  Conversation made;
  for (const Message& message : from)
    if (!made.add(message)) return;
  for (const Value& message : made.messages().items()) into.append(from_json(json_text(message)));
}

nb::dict run_agent(const std::shared_ptr<const Engine>& engine, const PyTokenizer& tokenizer, nb::object sample,
                   const std::vector<PyTool>& tools, std::string goal, std::string system, bool verify,
                   const std::tuple<unsigned, std::size_t, double, unsigned, unsigned>& limits,
                   const std::optional<std::string>& grammar, std::optional<std::size_t> context, nb::object events,
                   nb::object approve, nb::object stopped, nb::list messages) {
  std::optional<GrammarSyntax> syntax;
  if (grammar) syntax = grammar_syntax_named(*grammar);
  Hooks hooks{std::move(events), std::move(approve), std::move(stopped)};
  const std::unique_ptr<AgentModel> model = make_session_model({.reader = engine->reader,
                                                                .tokenizer = *tokenizer.tokenizer,
                                                                .sample = sampler_of(sample),
                                                                .syntax = syntax,
                                                                .context = context});
  AgentOptions options{.goal = std::move(goal), .system = std::move(system), .verify = verify};
  for (const PyTool& tool : tools) options.tools.push_back(tool_of(tool));
  std::tie(options.limits.turns, options.limits.tokens, options.limits.seconds, options.limits.repeats,
           options.limits.refusals) = limits;
  options.events = [&hooks](const AgentEvent& event) { hooks.tell(event); };
  options.approve = [&hooks](std::string_view name, std::string_view arguments) { return hooks.ask(name, arguments); };
  options.stopped = [&hooks] { return hooks.raised || PyErr_CheckSignals() != 0 || hooks.wants_end(); };
  Agent agent(*model, std::move(options));
  const AgentEnd end = agent.run();
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  take_messages(agent.messages(), messages);
  raise_kept();
  if (end.error) raise(*end.error);
  return end_of(end);
}

}  // namespace

void bind_agent(nb::module_& module) {
  module.def("_run_agent", &run_agent, "engine"_a, "tokenizer"_a, "sample"_a, "tools"_a, "goal"_a, "system"_a,
             "verify"_a, "limits"_a, "grammar"_a.none(), "context"_a.none(), "events"_a.none(), "approve"_a.none(),
             "stopped"_a.none(), "messages"_a);
}

}  // namespace parlance::python
