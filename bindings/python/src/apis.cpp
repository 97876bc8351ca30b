// Requests and replies in the forms of HTTP APIs. Begin reading at bind_apis.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "errors.h"
#include "names.h"
#include "parlance/reply_api.h"
#include "parlance/request_api.h"
#include "prompt.h"
#include "replies.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

ReplyApi api_named(const std::string& name) {
  const std::optional<ReplyApi> found = reply_api_named(name);
  if (!found)
    throw nb::value_error(("the APIs are " + listed(reply_api_names(), "and") + ", not " + quoted(name)).c_str());
  return *found;
}

// ---- requests

struct PyApiRequest {
  nb::object request;
  std::vector<RequestNote> notes;
};

PyApiRequest convert(nb::handle request, const std::string& to, const nb::kwargs& members) {
  const std::string json = json_of(request);
  const RequestApiOptions options{.members = json_members(members)};
  Result<ApiRequest> made = [&, api = api_named(to)] {
    const nb::gil_scoped_release release;
    return request_as(api, json, options);
  }();
  ApiRequest converted = take(std::move(made));
  return {from_json(converted.json), std::move(converted.notes)};
}

// ---- replies

/// An event that owns its texts.
struct PyApiEvent {
  std::string name, data;
};

using ApiEvents = std::vector<PyApiEvent>;

auto sink_into(ApiEvents& events) {
  return [&events](const ReplyApiEvent& event) {
    events.push_back({std::string(event.name), std::string(event.data)});
  };
}

class PyApiWriter {
 public:
  PyApiWriter(ReplyApi api, ReplyApiOptions options) : api_(api), writer_(api, std::move(options)) {}

  ApiEvents begin() {
    ApiEvents events;
    writer_.begin(sink_into(events));
    return events;
  }
  ApiEvents add(nb::handle given) {
    ApiEvents events;
    const auto sink = sink_into(events);
    if (nb::isinstance<PyReplyEvent>(given)) {
      writer_.add(nb::cast<PyReplyEvent&>(given).view(), sink);
    } else {
      for (nb::handle event : nb::iter(given)) writer_.add(nb::cast<PyReplyEvent&>(event).view(), sink);
    }
    return events;
  }
  ApiEvents finish(bool length, std::optional<std::int64_t> input_tokens, std::optional<std::int64_t> output_tokens) {
    ReplyOutcome outcome{.length = length};
    if (input_tokens || output_tokens)
      outcome.usage = ReplyUsage{.input_tokens = input_tokens.value_or(0), .output_tokens = output_tokens.value_or(0)};
    ApiEvents events;
    writer_.finish(sink_into(events), outcome);
    return events;
  }
  nb::object to_dict() const { return from_json(writer_.to_json()); }
  nb::str end_of_stream() const { return text_to_python(parlance::end_of_stream(api_)); }

 private:
  ReplyApi api_;
  ReplyApiWriter writer_;
};

nb::str server_sent(const PyApiEvent& event) {
  std::string text;
  append_server_sent_event(text, {event.name, event.data});
  return text_to_python(text);
}

nb::object delta_of(ReplyDeltas& deltas, const PyReplyEvent& event) {
  std::string json;
  return deltas.append(json, event.view()) ? from_json(json) : nb::none();
}

// ---- classes

void bind_requests(nb::module_& module) {
  nb::class_<RequestNote>(module, "RequestNote", "What happened to a part of a request that was converted.")
      .def_prop_ro(
          "kind", [](const RequestNote& n) { return std::string(name_of(n.kind)); },
          "'lost': it is not in the new request. 'missing': the API requires it, and the request has none. 'changed': "
          "it "
          "is written in another way.")
      .def_ro("path", &RequestNote::path, "Where it stands in the request: 'messages[3].name'.")
      .def_ro("sentence", &RequestNote::sentence)
      .def("__str__", &RequestNote::display)
      .def("__repr__", [](const RequestNote& n) { return "<RequestNote " + n.display() + ">"; });

  nb::class_<PyApiRequest>(module, "ApiRequest", "A request of one API, made of another's.")
      .def_prop_ro(
          "request", [](const PyApiRequest& r) { return r.request; },
          nb::sig("def request(self) -> dict[str, typing.Any]"), "The new request.")
      .def_ro("notes", &PyApiRequest::notes, "What was dropped or changed.")
      .def("__repr__", [](const PyApiRequest& r) {
        return "<ApiRequest " + std::string(nb::repr(r.request).c_str()) + ", " + std::to_string(r.notes.size()) +
               " notes>";
      });

  module.def("convert", &convert, "request"_a, "to"_a, "members"_a,
             nb::sig("def convert(request: str | collections.abc.Mapping[str, typing.Any], to: str, **members: "
                     "typing.Any) -> ApiRequest"),
             ("A request of any API that render() takes as one of another: `parlance convert`. `to` is " +
              listed(reply_api_names()) +
              ". Keyword arguments are members to set: max_tokens=1024.\n\nRaises parlance.Error with the path of "
              "content that the API does not have.")
                 .c_str());
}

void bind_writer(nb::module_& module) {
  nb::class_<PyApiEvent>(module, "ReplyApiEvent", "An event of an API's stream.")
      .def_ro("name", &PyApiEvent::name, "'message_start'; '' for chat completions, whose events have no names.")
      .def_prop_ro(
          "data", [](const PyApiEvent& e) { return from_json(e.data); },
          nb::sig("def data(self) -> dict[str, typing.Any]"), "The event as objects.")
      .def_ro("json", &PyApiEvent::data, "The event as JSON on one line.")
      .def("to_sse", &server_sent, "The event as a server sends it: lines `event:` and `data:`, and an empty line.")
      .def("__repr__", [](const PyApiEvent& e) { return "<ReplyApiEvent " + e.data + ">"; });

  nb::class_<PyApiWriter>(module, "ReplyApiWriter",
                          "Writes a reply as the answer of an HTTP API: event by event, and whole. An API's own client "
                          "assembles the events to what to_dict() gives, however the reply was cut.\n\nThreads: one at "
                          "a time.")
      .def(
          "__init__",
          [](PyApiWriter* self, const std::string& api, std::string id, std::string model, std::int64_t created,
             nb::object make_call_id) {
            new (self) PyApiWriter(api_named(api), {.id = std::move(id),
                                                    .model = std::move(model),
                                                    .created = created,
                                                    .make_call_id = id_maker(std::move(make_call_id))});
          },
          "api"_a, nb::kw_only(), "id"_a = "", "model"_a = "", "created"_a = 0, "make_call_id"_a = nb::none(),
          nb::sig("def __init__(self, api: str, *, id: str = '', model: str = '', created: int = 0, make_call_id: "
                  "collections.abc.Callable[[], str] | None = None) -> None"),
          ("`api` is " + listed(reply_api_names()) +
           "; `created` is in seconds since 1970. `make_call_id` makes the ids of calls for which the model wrote "
           "none; "
           "without it they are numbered.")
              .c_str())
      .def("begin", &PyApiWriter::begin, "The first events of the stream.")
      .def("add", &PyApiWriter::add, "events"_a,
           nb::sig("def add(self, events: ReplyEvent | collections.abc.Iterable[ReplyEvent]) -> list[ReplyApiEvent]"),
           "What the API sends for events of a ReplyReader.")
      .def("finish", &PyApiWriter::finish, nb::kw_only(), "length"_a = false, "input_tokens"_a = nb::none(),
           "output_tokens"_a = nb::none(),
           "The last events. `length`: a limit on tokens stopped the model. Without counts of tokens the answer has no "
           "usage.")
      .def_prop_ro("end_of_stream", &PyApiWriter::end_of_stream,
                   "What a server sends after the last event: 'data: [DONE]' for chat completions, else ''.")
      .def("to_dict", &PyApiWriter::to_dict, nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
           "The whole answer, after finish().");

  nb::class_<ReplyDeltas>(module, "ReplyDeltas",
                          "Turns events into the `delta` of OpenAI's chat.completion.chunk.\n\nThreads: one at a time.")
      .def(
          "__init__",
          [](ReplyDeltas* self, nb::object make_id) { new (self) ReplyDeltas(id_maker(std::move(make_id))); },
          nb::kw_only(), "make_call_id"_a = nb::none(),
          nb::sig("def __init__(self, *, make_call_id: collections.abc.Callable[[], str] | None = None) -> None"))
      .def("add", &delta_of, "event"_a, nb::sig("def add(self, event: ReplyEvent) -> dict[str, typing.Any] | None"),
           "The delta for an event; None where it gives none.")
      .def_prop_ro(
          "finish_reason", [](const ReplyDeltas& d) { return std::string(d.finish_reason()); },
          "'stop', 'tool_calls', or 'length' for a reply that breaks off.");
}

}  // namespace

void bind_apis(nb::module_& module) {
  bind_requests(module);
  bind_writer(module);
}

}  // namespace parlance::python
