// ReplyEvent, ToolCall, Message. Begin reading at bind_reply_messages.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "errors.h"
#include "names.h"
#include "parlance/reply.h"
#include "pickles.h"
#include "replies.h"

namespace parlance::python {

using namespace nb::literals;

std::function<std::string()> id_maker(nb::object make) {
  if (make.is_none()) return {};
  return [make = std::move(make)] { return nb::cast<std::string>(call_python(make)); };
}

namespace {

/// A number by its name among others, as `kind` says; raises ValueError.
template <typename Number, typename Names>
Number number_of(const Names& names, std::string_view name, const char* what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) raise_argument("there is no " + std::string(what) + " '" + std::string(name) + "'");
  return static_cast<Number>(found - names.begin());
}

void make_event(PyReplyEvent* self, std::string_view kind, nb::str text, nb::str detail, nb::str source,
                std::uint32_t call, bool complete, std::uint64_t position, std::optional<std::string> fault,
                bool custom) {
  nb::object kept[3];
  ReplyEvent facts;
  facts.kind = number_of<ReplyEvent::Kind>(reply_event_names(), kind, "kind of events");
  if (fault && facts.kind != ReplyEvent::Kind::malformed) raise_argument("only a malformed event has a fault");
  if (fault) facts.fault = number_of<ReplyEvent::Fault>(reply_fault_names(), *fault, "fault");
  facts.complete = complete;
  facts.custom = custom;
  facts.call = call;
  facts.position = position;
  facts.text = utf8_of(text, kept[0]);
  facts.detail = utf8_of(detail, kept[1]);
  facts.source = utf8_of(source, kept[2]);
  new (self) PyReplyEvent(facts);
}

/// (name, type, default) of the attributes that an event is made of; the first has no default.
nb::tuple fields_of_events() {
  const nb::object text(nb::handle(reinterpret_cast<PyObject*>(&PyUnicode_Type)), nb::detail::borrow_t());
  const nb::object number(nb::handle(reinterpret_cast<PyObject*>(&PyLong_Type)), nb::detail::borrow_t());
  const nb::object flag(nb::handle(reinterpret_cast<PyObject*>(&PyBool_Type)), nb::detail::borrow_t());
  const nb::object none = nb::none(), empty = nb::str(""), zero = nb::int_(0), no = nb::bool_(false);
  return nb::make_tuple(nb::make_tuple("kind", text, none), nb::make_tuple("text", text, empty),
                        nb::make_tuple("detail", text, empty), nb::make_tuple("source", text, empty),
                        nb::make_tuple("call", number, zero), nb::make_tuple("complete", flag, no),
                        nb::make_tuple("position", number, zero), nb::make_tuple("fault", text | none, none),
                        nb::make_tuple("custom", flag, no));
}

/// Takes `complete` out of the calls of a message where it says nothing, or of all: a template may print whole calls.
void leave_out_complete(nb::handle message, bool of_all) {
  const nb::dict members = nb::borrow<nb::dict>(message);
  if (!members.contains("tool_calls")) return;
  for (nb::handle call : nb::list(members["tool_calls"])) {
    const nb::dict its = nb::borrow<nb::dict>(call);
    if (of_all || its["complete"].is(nb::bool_(true))) its.attr("pop")("complete", nb::none());
  }
}

nb::dict event_to_dict(const PyReplyEvent& event) {
  nb::dict made;
  const nb::object self = nb::cast(event);
  for (nb::handle field : nb::tuple(self.type().attr("_fields"))) made[field[0]] = self.attr(field[0]);
  return made;
}

bool same_event(const PyReplyEvent& a, const PyReplyEvent& b) {
  const ReplyEvent &left = a.facts, &right = b.facts;
  return left.kind == right.kind && left.call == right.call && left.complete == right.complete &&
         left.custom == right.custom && left.position == right.position && left.fault == right.fault &&
         a.text == b.text && a.detail == b.detail && a.source == b.source;
}

Py_hash_t hash_of_event(const PyReplyEvent& event) {
  return nb::hash(nb::make_tuple(static_cast<int>(event.facts.kind), event.facts.call, event.facts.position,
                                 kept_bytes(event.text), kept_bytes(event.source)));
}

/// For pickle and copy: the facts as numbers, the texts as bytes.
nb::tuple state_of_event(const PyReplyEvent& event) {
  const ReplyEvent& facts = event.facts;
  return nb::make_tuple(static_cast<int>(facts.kind), static_cast<int>(facts.fault), facts.complete, facts.custom,
                        facts.call, facts.form, facts.position, kept_bytes(event.source), kept_bytes(event.text),
                        kept_bytes(event.detail));
}

void set_state_of_event(PyReplyEvent& event, const nb::tuple& state) {
  const std::string source = kept_text(state[7]), text = kept_text(state[8]), detail = kept_text(state[9]);
  ReplyEvent facts;
  facts.kind = static_cast<ReplyEvent::Kind>(nb::cast<std::uint8_t>(state[0]));
  facts.fault = static_cast<ReplyEvent::Fault>(nb::cast<std::uint8_t>(state[1]));
  facts.complete = nb::cast<bool>(state[2]);
  facts.custom = nb::cast<bool>(state[3]);
  facts.call = nb::cast<std::uint32_t>(state[4]);
  facts.form = nb::cast<std::uint32_t>(state[5]);
  facts.position = nb::cast<std::uint64_t>(state[6]);
  facts.source = source;
  facts.text = text;
  facts.detail = detail;
  new (&event) PyReplyEvent(facts);
}

nb::tuple state_of_call(const ReplyCall& call) {
  return nb::make_tuple(kept_bytes(call.id), kept_bytes(call.name), kept_bytes(call.arguments), call.complete,
                        call.custom);
}

ReplyCall call_of_state(nb::handle call) {
  return {kept_text(call[0]), kept_text(call[1]), kept_text(call[2]), nb::cast<bool>(call[3]), nb::cast<bool>(call[4])};
}

nb::tuple state_of_message(const ReplyMessage& message) {
  nb::list calls, diagnostics;
  for (const ReplyCall& call : message.calls) calls.append(state_of_call(call));
  for (const ReplyDiagnostic& one : message.diagnostics)
    diagnostics.append(nb::make_tuple(one.position, kept_bytes(one.expected), static_cast<int>(one.fault)));
  return nb::make_tuple(kept_bytes(message.reasoning), kept_bytes(message.content), calls, diagnostics,
                        kept_bytes(std::string(message.finish_reason())));
}

/// A message knows by its events how the reply ended, so it gets some that end alike.
void end_as(ReplyMessage& message, const std::string& reason) {
  using Kind = ReplyEvent::Kind;
  if (reason == "tool_calls") message.add({.kind = Kind::call_begin});
  if (reason == "tool_calls") message.add({.kind = Kind::call_end, .complete = true});
  if (reason == "length") message.add({.kind = Kind::reasoning});
}

void set_state_of_message(ReplyMessage& message, const nb::tuple& state) {
  new (&message) ReplyMessage;
  end_as(message, kept_text(state[4]));
  message.reasoning = kept_text(state[0]);
  message.content = kept_text(state[1]);
  message.calls.clear();
  for (nb::handle call : state[2]) message.calls.push_back(call_of_state(call));
  for (nb::handle one : state[3])
    message.diagnostics.push_back({nb::cast<std::uint64_t>(one[0]), kept_text(one[1]),
                                   static_cast<ReplyEvent::Fault>(nb::cast<std::uint8_t>(one[2]))});
}

void bind_reply_event(nb::module_& module) {
  nb::class_<PyReplyEvent> event(
      module, "ReplyEvent",
      "One step of a reply. It is a frozen dataclass: dataclasses.asdict(), replace() and `match` take it.");
  event.attr("_fields") = fields_of_events();
  event
      .def("__init__", &make_event, "kind"_a, "text"_a = "", "detail"_a = "", "source"_a = "", "call"_a = 0,
           "complete"_a = false, "position"_a = 0, "fault"_a = nb::none(), "custom"_a = false,
           "Raises ValueError for a kind or a fault that there is not.")
      .def_prop_ro(
          "kind", [](const PyReplyEvent& e) { return std::string(name_of(e.facts.kind)); },
          (listed(reply_event_names()) + ".").c_str())
      .def_prop_ro(
          "text", [](const PyReplyEvent& e) { return text_to_python(e.text); },
          "The text of content and reasoning; a piece of a call's arguments as JSON; a call's name.")
      .def_prop_ro(
          "detail", [](const PyReplyEvent& e) { return text_to_python(e.detail); }, "A call's id.")
      .def_prop_ro(
          "source", [](const PyReplyEvent& e) { return text_to_python(e.source); },
          "The part of the reply; of all events together, the reply.")
      .def_prop_ro(
          "call", [](const PyReplyEvent& e) { return e.facts.call; }, "For events of a call: its number, from 0.")
      .def_prop_ro(
          "complete", [](const PyReplyEvent& e) { return e.facts.complete; },
          "For call_end: whether the arguments are complete, valid JSON.")
      .def_prop_ro(
          "position", [](const PyReplyEvent& e) { return e.facts.position; },
          "The byte of the reply at which `source` begins.")
      .def_prop_ro(
          "fault",
          [](const PyReplyEvent& e) -> std::optional<std::string> {
            if (e.facts.kind != ReplyEvent::Kind::malformed) return std::nullopt;
            return std::string(name_of(e.facts.fault));
          },
          ("For malformed: the kind of fault, " + listed(reply_fault_names()) + "; else None.").c_str())
      .def_prop_ro(
          "custom", [](const PyReplyEvent& e) { return e.facts.custom; },
          "For call_begin: whether it is the call of a custom tool.")
      .def("to_dict", &event_to_dict, nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
           "The event's attributes by name, as a line of `parlance read --jsonl --events` has them.")
      .def("__eq__", &same_event, nb::is_operator())
      .def("__hash__", &hash_of_event)
      .def("__getstate__", &state_of_event)
      .def("__setstate__", &set_state_of_event)
      .def("__repr__", [](const PyReplyEvent& e) {
        return "ReplyEvent('" + std::string(name_of(e.facts.kind)) + "', " +
               std::string(nb::repr(text_to_python(e.text)).c_str()) + ")";
      });
}

void bind_call(nb::module_& module) {
  nb::class_<ReplyCall>(module, "ToolCall", "A call that a model made.")
      .def_prop_ro(
          "id", [](const ReplyCall& c) { return text_to_python(c.id); }, "As the model wrote it, or ''.")
      .def_prop_ro("name", [](const ReplyCall& c) { return text_to_python(c.name); })
      .def_prop_ro(
          "arguments", [](const ReplyCall& c) { return text_to_python(c.arguments); },
          "JSON; of an incomplete call the beginning of it, then what else the model wrote.")
      .def_ro("complete", &ReplyCall::complete, "Whether the arguments are complete, valid JSON: call no other.")
      .def_ro("custom", &ReplyCall::custom, "Whether it is the call of a custom tool.")
      .def("__getstate__", &state_of_call)
      .def("__setstate__", [](ReplyCall& self, const nb::tuple& state) { new (&self) ReplyCall(call_of_state(state)); })
      .def("__repr__", [](const ReplyCall& c) {
        return "ToolCall(" + std::string(nb::repr(text_to_python(c.name)).c_str()) + ", " +
               std::string(nb::repr(text_to_python(c.arguments)).c_str()) + (c.complete ? ")" : ", complete=False)");
      });
}

void bind_message(nb::module_& module) {
  nb::class_<ReplyMessage>(module, "Message", "A reply as a message.")
      .def_prop_ro("content", [](const ReplyMessage& m) { return text_to_python(m.content); })
      .def_prop_ro("reasoning", [](const ReplyMessage& m) { return text_to_python(m.reasoning); })
      .def_ro("calls", &ReplyMessage::calls)
      .def_prop_ro(
          "finish_reason", [](const ReplyMessage& m) { return std::string(m.finish_reason()); },
          "'stop', 'tool_calls', or 'length' for a reply that breaks off.")
      .def_prop_ro(
          "diagnostics",
          [](const ReplyMessage& m) {
            nb::list all;
            for (const ReplyDiagnostic& d : m.diagnostics)
              all.append(nb::make_tuple(d.position, std::string(name_of(d.fault)), text_to_python(d.expected)));
            return all;
          },
          nb::sig("def diagnostics(self) -> list[tuple[int, str, str]]"),
          "(byte, kind of fault, what was expected) for each fault.")
      .def(
          "to_dict",
          [](const ReplyMessage& m, nb::object make_call_id, bool partial) {
            nb::object made = from_json(m.message_json(id_maker(std::move(make_call_id)), partial));
            leave_out_complete(made, false);
            return made;
          },
          nb::kw_only(), "make_call_id"_a = nb::none(), "partial"_a = false,
          nb::sig("def to_dict(self, *, make_call_id: collections.abc.Callable[[], str] | None = None, partial: bool = "
                  "False) -> dict[str, typing.Any]"),
          "The message in OpenAI's form, which can go back into a conversation, as the Message itself can. A call that "
          "was "
          "cut off or is broken has `complete`: False. `make_call_id` makes the ids of calls "
          "for which the model wrote none; without it they are call_1, call_2, … With `partial` an incomplete call has "
          "a member `partial`: the values so far.")
      .def(
          "__eq__", [](const ReplyMessage& a, const ReplyMessage& b) { return a.to_json() == b.to_json(); },
          nb::is_operator())
      .def("_in_history",
           [](const ReplyMessage& m) {
             nb::object made = from_json(m.message_json());
             leave_out_complete(made, true);
             return made;
           })
      .def("__getstate__", &state_of_message)
      .def("__setstate__", &set_state_of_message)
      .def("__hash__", [](const ReplyMessage& m) { return nb::hash(nb::str(m.message_json().c_str())); })
      .def("__repr__", [](const ReplyMessage& m) { return "<Message " + m.message_json() + ">"; });
}

}  // namespace

void bind_reply_messages(nb::module_& module) {
  bind_reply_event(module);
  bind_call(module);
  bind_message(module);
}

}  // namespace parlance::python
