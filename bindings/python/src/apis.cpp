// Requests and replies in the forms of HTTP APIs. Begin reading at bind_apis.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "errors.h"
#include "gil.h"
#include "in_use.h"
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
  if (!found) raise_argument("the APIs are " + listed(reply_api_names(), "and") + ", not " + quoted(name));
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
    const GilRelease release;
    return request_as(api, json, options);
  }();
  ApiRequest converted = take(std::move(made));
  return {from_json(converted.json), std::move(converted.notes)};
}

// ---- replies

/// An event that owns its texts.
struct PyApiEvent {
  ReplyApi api;
  std::string name, data;
};

using ApiEvents = std::vector<PyApiEvent>;

auto sink_into(ApiEvents& events, ReplyApi api) {
  return [&events, api](const ReplyApiEvent& event) {
    events.push_back({api, std::string(event.name), std::string(event.data)});
  };
}

ReasoningNames reasoning_names(const std::string& name) {
  if (name == "both") return ReasoningNames::both;
  if (name == "reasoning_content") return ReasoningNames::reasoning_content;
  if (name == "reasoning") return ReasoningNames::reasoning;
  raise_argument("reasoning_names is 'both', 'reasoning_content' or 'reasoning'");
}

/// A token is str, or bytes where it is no whole text.
std::string token_of(nb::handle token) {
  if (nb::isinstance<nb::bytes>(token)) {
    const auto bytes = nb::cast<nb::bytes>(token);
    return {bytes.c_str(), bytes.size()};
  }
  return nb::cast<std::string>(token);
}

/// What keyword arguments say of usage: None where they say nothing.
using Count = std::optional<std::int64_t>;

std::optional<ReplyUsage> usage_of(Count input, Count output, Count cached, Count reasoning) {
  if (!input && !output && !cached && !reasoning) return std::nullopt;
  return ReplyUsage{.input_tokens = input.value_or(0),
                    .output_tokens = output.value_or(0),
                    .cached_tokens = cached.value_or(0),
                    .reasoning_tokens = reasoning.value_or(0)};
}

ReplyApiError error_of(std::string message, int status, std::string type, std::string code, std::string param) {
  return {.status = status,
          .message = std::move(message),
          .type = std::move(type),
          .code = std::move(code),
          .param = std::move(param)};
}

class PyApiWriter {
 public:
  PyApiWriter(ReplyApi api, ReplyApiOptions options) : api_(api), writer_(api, std::move(options)) {}

  ApiEvents begin() {
    const auto in_use = enter();
    ApiEvents events;
    writer_.begin(sink_into(events, api_));
    return events;
  }
  ApiEvents add(nb::handle given) {
    const auto in_use = enter();
    ApiEvents events;
    const auto sink = sink_into(events, api_);
    if (nb::isinstance<PyReplyEvent>(given)) {
      writer_.add(nb::cast<PyReplyEvent&>(given).view(), sink);
    } else {
      PythonItems items(given);
      for (nb::object event = items.next(); event.is_valid(); event = items.next())
        writer_.add(nb::cast<PyReplyEvent&>(event).view(), sink);
    }
    return events;
  }
  void add_logprobs(nb::handle tokens) {
    const nb::tuple all(nb::borrow(tokens));  // what makes them may call the writer
    const auto in_use = enter();
    for (nb::handle one : all) {
      const std::string token = token_of(one[0]);
      std::vector<std::string> texts;
      std::vector<ReplyLogprob::Alternative> top;
      for (nb::handle other : nb::iter(one[2])) {
        texts.push_back(token_of(other[0]));
        top.push_back({.token = {}, .logprob = nb::cast<double>(other[1])});
      }
      for (std::size_t i = 0; i < top.size(); ++i) top[i].token = texts[i];
      const ReplyLogprob logprob{.token = token, .logprob = nb::cast<double>(one[1]), .top = top};
      writer_.add_logprobs({&logprob, 1});
    }
  }
  ApiEvents finish(const ReplyOutcome& outcome) {
    const auto in_use = enter();
    ApiEvents events;
    writer_.finish(sink_into(events, api_), outcome);
    return events;
  }
  ApiEvents fail(const ReplyApiError& error) {
    const auto in_use = enter();
    ApiEvents events;
    writer_.fail(error, sink_into(events, api_));
    return events;
  }
  InUse::Entered enter() const { return in_use_.enter("writer"); }
  InUse::Entered enter_to_read() const { return in_use_.enter_to_read("writer"); }
  const ReplyApiWriter& writer() const { return writer_; }
  nb::object to_dict() const {
    const auto in_use = enter_to_read();
    return from_json(writer_.to_json());
  }
  nb::str keep_alive() const { return text_to_python(keep_alive_of_stream(api_)); }
  nb::str content_type() const { return text_to_python(content_type_of_stream(api_)); }
  nb::str end_of_stream() const { return text_to_python(parlance::end_of_stream(api_)); }

 private:
  ReplyApi api_;
  ReplyApiWriter writer_;
  InUse in_use_;
};

nb::str server_sent(const PyApiEvent& event) {
  std::string text;
  append_stream_event(text, event.api, {event.name, event.data});
  return text_to_python(text);
}

nb::object choices_of(nb::handle writers, Count input, Count output, Count cached, Count reasoning) {
  std::vector<const ReplyApiWriter*> all;
  const nb::tuple kept(nb::borrow(writers));  // another thread may change a list
  std::vector<InUse::Entered> in_use;
  for (nb::handle writer : kept) {
    if (!nb::isinstance<PyApiWriter>(writer))
      throw nb::type_error(
          ("writers are ReplyApiWriters, not " + std::string(nb::type_name(writer.type()).c_str())).c_str());
    const auto& one = nb::cast<const PyApiWriter&>(writer);
    if (std::find(all.begin(), all.end(), &one.writer()) == all.end()) in_use.push_back(one.enter_to_read());
    all.push_back(&one.writer());
  }
  return from_json(ReplyApiWriter::choices_to_json(all, usage_of(input, output, cached, reasoning)));
}

struct PyReplyDeltas {
  ReplyDeltas deltas;
  InUse in_use{};
};

nb::object delta_of(PyReplyDeltas& self, const PyReplyEvent& event) {
  const auto in_use = self.in_use.enter("ReplyDeltas");
  std::string json;
  return self.deltas.append(json, event.view()) ? from_json(json) : nb::none();
}

std::string end_of_deltas(const PyReplyDeltas& self) {
  const auto in_use = self.in_use.enter_to_read("ReplyDeltas");
  return std::string(self.deltas.finish_reason());
}

// ---- classes

void bind_requests(nb::module_& module) {
  nb::class_<RequestNote>(module, "RequestNote", "What happened to a part of a request that was converted.")
      .def_prop_ro(
          "kind", [](const RequestNote& n) { return std::string(name_of(n.kind)); },
          "'lost': it is not in the new request. 'missing': the API requires it, and the request has none. 'changed': "
          "it is written in another way. 'kept': the API has no such member, and the request has it all the same.")
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
              listed(request_api_names()) +
              ". Keyword arguments are members to set: max_tokens=1024.\n\nRaises parlance.Error with the path of "
              "content that the API does not have.")
                 .c_str());
}

void bind_api_event(nb::module_& module) {
  nb::class_<PyApiEvent>(module, "ReplyApiEvent", "An event of an API's stream.")
      .def_ro("name", &PyApiEvent::name,
              "'message_start'; '' for chat completions and Ollama, whose events have no names.")
      .def_prop_ro(
          "data", [](const PyApiEvent& e) { return from_json(e.data); },
          nb::sig("def data(self) -> dict[str, typing.Any]"), "The event as objects.")
      .def_ro("json", &PyApiEvent::data, "The event as JSON on one line.")
      .def("to_sse", &server_sent,
           "The event as a server sends it: lines `event:` and `data:`, and an empty line; for Ollama the JSON and a "
           "newline.")
      .def("__repr__", [](const PyApiEvent& e) { return "<ReplyApiEvent " + e.data + ">"; });
}

using WriterClass = nb::class_<PyApiWriter>;

WriterClass bind_writer(nb::module_& module) {
  return WriterClass(module, "ReplyApiWriter",
                     "Writes a reply as the answer of an HTTP API: event by event, and whole. An API's own client "
                     "assembles the events to what to_dict() gives, however the reply was cut.\n\nThreads: one at "
                     "a time; a second one that calls a method meanwhile gets RuntimeError.")
      .def(
          "__init__",
          [](PyApiWriter* self, const std::string& api, std::string id, std::string model, std::int64_t created,
             nb::object make_call_id, Count input, Count cached, std::uint32_t choice, bool stream_usage,
             const std::string& names, nb::object sign, nb::object members, bool generate) {
            ReplyApiOptions options{.id = std::move(id),
                                    .model = std::move(model),
                                    .created = created,
                                    .make_call_id = id_maker(std::move(make_call_id)),
                                    .usage_at_start = usage_of(input, {}, cached, {}),
                                    .choice = choice,
                                    .stream_usage = stream_usage,
                                    .reasoning_names = reasoning_names(names),
                                    .generate = generate};
            if (!sign.is_none()) {
              options.sign_reasoning = [sign = std::move(sign)](std::string_view text) {
                return nb::cast<std::string>(sign(text_to_python(text)));
              };
            }
            if (!members.is_none()) options.request_members = json_members(members);
            new (self) PyApiWriter(api_named(api), std::move(options));
          },
          "api"_a, nb::kw_only(), "id"_a = "", "model"_a = "", "created"_a = 0, "make_call_id"_a = nb::none(),
          "input_tokens"_a = nb::none(), "cached_tokens"_a = nb::none(), "choice"_a = 0, "stream_usage"_a = false,
          "reasoning_names"_a = "both", "sign_reasoning"_a = nb::none(), "request_members"_a = nb::none(),
          "generate"_a = false,
          nb::sig("def __init__(self, api: str, *, id: str = '', model: str = '', created: int = 0, make_call_id: "
                  "collections.abc.Callable[[], str] | None = None, input_tokens: int | None = None, cached_tokens: "
                  "int | None = None, choice: int = 0, stream_usage: bool = False, reasoning_names: str = 'both', "
                  "sign_reasoning: collections.abc.Callable[[str], str] | None = None, request_members: "
                  "dict[str, typing.Any] | None = None, generate: bool = False) -> None"),
          "`api` is 'openai', 'anthropic', 'responses' or 'ollama'; `created` is in seconds since 1970. `make_call_id` "
          "makes the ids of calls for which the model wrote none; without it they are numbered. `input_tokens` and "
          "`cached_tokens` are what is known at the start, for Anthropic's message_start. Chat completions: `choice` "
          "is the index of the choice, `stream_usage` sends usage in a chunk of its own (include_usage), and "
          "`reasoning_names` is 'both', 'reasoning_content' or 'reasoning'. `sign_reasoning` makes the signature of "
          "Anthropic's thinking blocks. `request_members`: what a response of OpenAI's Responses repeats of its "
          "request. `generate`: Ollama's /api/generate.");
}

void bind_steps(WriterClass& writer) {
  writer.def("begin", &PyApiWriter::begin, "The first events of the stream.")
      .def("add", &PyApiWriter::add, "events"_a,
           nb::sig("def add(self, events: ReplyEvent | collections.abc.Iterable[ReplyEvent]) -> list[ReplyApiEvent]"),
           "What the API sends for events of a ReplyReader.")
      .def(
          "add_logprobs", &PyApiWriter::add_logprobs, "tokens"_a,
          nb::sig("def add_logprobs(self, tokens: collections.abc.Iterable[tuple[str | bytes, float, "
                  "collections.abc.Iterable[tuple[str | bytes, float]]]]) -> None"),
          "Takes tokens before the events that they give: each with its logprob, and the top alternatives with theirs.")
      .def(
          "finish",
          [](PyApiWriter& self, bool length, Count input, Count output, Count cached, Count reasoning,
             std::optional<std::string> stop,
             std::optional<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> times) {
            ReplyOutcome outcome{.length = length,
                                 .usage = usage_of(input, output, cached, reasoning),
                                 .stop_sequence = std::move(stop)};
            if (times) {
              const auto [total, load, prompt, eval] = *times;
              outcome.times = ReplyTimes{.total = total, .load = load, .prompt = prompt, .eval = eval};
            }
            return self.finish(outcome);
          },
          nb::kw_only(), "length"_a = false, "input_tokens"_a = nb::none(), "output_tokens"_a = nb::none(),
          "cached_tokens"_a = nb::none(), "reasoning_tokens"_a = nb::none(), "stop_sequence"_a = nb::none(),
          "times"_a = nb::none(),
          "The last events. `length`: a limit on tokens stopped the model; `stop_sequence`: this text of the request "
          "did. Without counts of tokens the answer has no usage. `times`: Ollama's durations in nanoseconds, in all, "
          "of loading, of the prompt and of sampling.")
      .def(
          "fail",
          [](PyApiWriter& self, std::string message, int status, std::string type, std::string code,
             std::string param) {
            return self.fail(error_of(std::move(message), status, std::move(type), std::move(code), std::move(param)));
          },
          "message"_a, nb::kw_only(), "status"_a = 500, "type"_a = "", "code"_a = "", "param"_a = "",
          "The last events of a stream that ends with an error, in place of finish(). Without `type`, the HTTP status "
          "decides about it.");
}

void bind_results(WriterClass& writer) {
  writer
      .def_prop_ro("end_of_stream", &PyApiWriter::end_of_stream,
                   "What a server sends after the last event: 'data: [DONE]' for chat completions, else ''.")
      .def_prop_ro("keep_alive", &PyApiWriter::keep_alive,
                   "What a server may send while nothing happens: Anthropic's event ping, or a comment; '' for Ollama.")
      .def_prop_ro("content_type", &PyApiWriter::content_type,
                   "The stream's Content-Type: 'text/event-stream', or 'application/x-ndjson' for Ollama.")
      .def_static("choices_to_dict", &choices_of, "writers"_a, nb::kw_only(), "input_tokens"_a = nb::none(),
                  "output_tokens"_a = nb::none(), "cached_tokens"_a = nb::none(), "reasoning_tokens"_a = nb::none(),
                  nb::sig("def choices_to_dict(writers: collections.abc.Sequence[ReplyApiWriter], *, input_tokens: int "
                          "| None = None, output_tokens: int | None = None, cached_tokens: int | None = None, "
                          "reasoning_tokens: int | None = None) -> dict[str, typing.Any]"),
                  "Chat completions: one answer with the choices of all writers; the usage is of all together.")
      .def("to_dict", &PyApiWriter::to_dict, nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
           "The whole answer, after finish().");
}

void bind_errors_and_deltas(nb::module_& module) {
  module.def(
      "api_error",
      [](const std::string& api, int status, std::string message, std::string type, std::string code,
         std::string param) {
        return from_json(reply_error_json(
            api_named(api), error_of(std::move(message), status, std::move(type), std::move(code), std::move(param))));
      },
      "api"_a, "status"_a, "message"_a, nb::kw_only(), "type"_a = "", "code"_a = "", "param"_a = "",
      nb::sig("def api_error(api: str, status: int, message: str, *, type: str = '', code: str = '', param: str = '') "
              "-> dict[str, typing.Any]"),
      "The body of an HTTP answer that fails, as the API has it. Without `type`, the status decides about it.");

  nb::class_<PyReplyDeltas>(module, "ReplyDeltas",
                            "Turns events into the `delta` of OpenAI's chat.completion.chunk.\n\nThreads: one at a "
                            "time; a second one that calls it meanwhile gets RuntimeError.")
      .def(
          "__init__",
          [](PyReplyDeltas* self, nb::object make_id) {
            new (self) PyReplyDeltas{ReplyDeltas(id_maker(std::move(make_id)))};
          },
          nb::kw_only(), "make_call_id"_a = nb::none(),
          nb::sig("def __init__(self, *, make_call_id: collections.abc.Callable[[], str] | None = None) -> None"))
      .def("add", &delta_of, "event"_a, nb::sig("def add(self, event: ReplyEvent) -> dict[str, typing.Any] | None"),
           "The delta for an event; None where it gives none.")
      .def_prop_ro("finish_reason", &end_of_deltas, "'stop', 'tool_calls', or 'length' for a reply that breaks off.");
}

}  // namespace

void bind_apis(nb::module_& module) {
  bind_requests(module);
  bind_api_event(module);
  WriterClass writer = bind_writer(module);
  bind_steps(writer);
  bind_results(writer);
  bind_errors_and_deltas(module);
}

}  // namespace parlance::python
