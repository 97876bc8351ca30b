// ReplyFormat, ReplyReader, Message. Begin reading at bind_replies.
#include "replies.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <mutex>

#include "errors.h"
#include "gil.h"
#include "names.h"
#include "own_locks.h"
#include "parlance/json.h"
#include "parlance/reply.h"
#include "parlance/response_template.h"
#include "parlance/source.h"
#include "pickles.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

// ---- pieces of UTF-8

/// How many bytes at the end of a text begin a character that is not complete yet.
std::size_t incomplete_at_end(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t needs = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return needs > back ? back : 0;
  }
  return 0;
}

}  // namespace

// ---- ReplyReader

namespace {

/// Formats for replies that are fed as tokens: the last few, since a tokenizer may have thousands of control tokens.
/// Threads: any.
class TokenFormats {
 public:
  static CompiledReplyFormat get(const CompiledReplyFormat& format, const std::vector<std::string>& ends,
                                 const std::shared_ptr<const Tokenizer>& tokenizer) {
    static auto* const only = new TokenFormats;  // a reader may be made until Python ends
    const std::lock_guard lock(own_lock(OwnLock::formats));
    std::vector<Known>& known = only->known_;
    for (const Known& one : known) {
      if (&one.format.source() == &format.source() && one.ends == ends && one.is_for(tokenizer)) return one.made;
    }
    if (known.size() == kMost) known.erase(known.begin());
    known.push_back({tokenizer, format, ends, format.with_control(tokenizer->control_texts(), ends)});
    return known.back().made;
  }

 private:
  static constexpr std::size_t kMost = 16;
  struct Known {
    /// Without owning it for a moment: were that the last, the tokenizer would end here, and ask for the GIL.
    bool is_for(const std::shared_ptr<const Tokenizer>& other) const {
      return !tokenizer.owner_before(other) && !other.owner_before(tokenizer);
    }

    std::weak_ptr<const Tokenizer> tokenizer;
    CompiledReplyFormat format;  // kept, so that no other has its address
    std::vector<std::string> ends;
    CompiledReplyFormat made;
  };
  std::vector<Known> known_;
};

/// What is fed as tokens is read by its control tokens.
CompiledReplyFormat for_tokens(CompiledReplyFormat format, const ReplyOptions& options,
                               const std::shared_ptr<const Tokenizer>& tokenizer) {
  return tokenizer == nullptr ? format : TokenFormats::get(format, options.ends, tokenizer);
}

}  // namespace

PyReplyReader::PyReplyReader(CompiledReplyFormat format_in, const ReplyOptions& options,
                             std::shared_ptr<const Tokenizer> tokenizer_in)
    : format_(for_tokens(std::move(format_in), options, tokenizer_in)),
      parser_(format_, options),
      kinds_(format_),
      tokenizer_(std::move(tokenizer_in)) {
  if (tokenizer_ == nullptr) return;
  for (const AddedToken& token : tokenizer_->facts().added)
    if (token.control) control_.insert(token.id);
  for (const TokenId id : tokenizer_->facts().markers) control_.insert(id);
}

void PyReplyReader::take(std::string_view bytes, std::vector<PyReplyEvent>& events) {
  const LockGuard guard(lock_.mutex);
  take_bytes(bytes, events);
}

/// Bytes of a character wait for the rest of it, so that an event has whole characters, unless the reply has half ones.
void PyReplyReader::take_bytes(std::string_view bytes, std::vector<PyReplyEvent>& events) {
  const auto sink = sink_into(events);
  if (begun_.empty()) {
    const std::size_t waits = incomplete_at_end(bytes);
    parser_.feed(bytes.substr(0, bytes.size() - waits), sink);
    begun_.assign(bytes.substr(bytes.size() - waits));
    return;
  }
  begun_.append(bytes);
  const std::string all = std::exchange(begun_, {});
  take_bytes(all, events);
}

void PyReplyReader::take_ids(std::span<const TokenId> ids, std::span<const std::string> texts,
                             std::vector<PyReplyEvent>& events) {
  const LockGuard guard(lock_.mutex);
  for (std::size_t i = 0; i < ids.size(); ++i) take_id(ids[i], texts[i], events);
}

void PyReplyReader::take_id(TokenId id, std::string_view text, std::vector<PyReplyEvent>& events) {
  const auto sink = sink_into(events);
  if (control_.contains(id)) {
    if (!begun_.empty()) parser_.feed_token(std::exchange(begun_, {}), false, sink);
    return parser_.feed_token(text, true, sink);
  }
  begun_ += text;
  const std::size_t waits = incomplete_at_end(begun_);
  const std::string rest = begun_.substr(begun_.size() - waits);
  parser_.feed_token(std::string_view(begun_).substr(0, begun_.size() - waits), false, sink);
  begun_ = rest;
}

void PyReplyReader::end(std::vector<PyReplyEvent>& events) {
  const LockGuard guard(lock_.mutex);
  const auto sink = sink_into(events);
  if (!begun_.empty()) parser_.feed(std::exchange(begun_, {}), sink);
  parser_.finish(sink);
}

ReplyMessage PyReplyReader::message() const {
  const LockGuard guard(lock_.mutex);
  return message_;
}

ReplyMessage PyReplyReader::message_at_end() const {
  const PyReplyReader ended = copy();
  ReplyParser parser = ended.parser_;
  ReplyMessage message = ended.message_;
  const auto take = [&](const ReplyEvent& event) { message.add(event); };
  if (!ended.begun_.empty()) parser.feed(ended.begun_, take);
  parser.finish(take);
  return message;
}

std::vector<KindRange> PyReplyReader::ranges() const {
  const LockGuard guard(lock_.mutex);
  return kinds_.ranges();
}

PyReplyReader PyReplyReader::copy() const {
  const LockGuard guard(lock_.mutex);
  return *this;
}

namespace {

// ---- formats

PyReplyFormat from_response_template(nb::handle given) {
  ReadResponseTemplate read = take(read_response_template(json_of(given)));
  return {take(CompiledReplyFormat::make(read.format)), std::move(read.notes)};
}

nb::tuple to_response_template(const PyReplyFormat& self, const std::string& reasoning_key) {
  const WrittenResponseTemplate written =
      take(write_response_template(self.format.source(), {.reasoning_key = reasoning_key}));
  return nb::make_tuple(from_json(written.json), written.losses);
}

}  // namespace

std::function<std::string()> id_maker(nb::object make) {
  if (make.is_none()) return {};
  return [make = std::move(make)] { return nb::cast<std::string>(call_python(make)); };
}

ReplyFormat format_of(nb::handle given) {
  if (nb::isinstance<PyReplyFormat>(given)) return nb::cast<PyReplyFormat&>(given).format.source();
  if (PyUnicode_Check(given.ptr()) != 0) {
    const auto text = nb::cast<std::string>(given);
    if (!text.starts_with('{')) return take(ReplyFormat::from_json(find_format(take(open_format(text)).path)->reply));
    return take(ReplyFormat::from_json(text));
  }
  return take(ReplyFormat::from_json(json_of(given)));
}

namespace {

CompiledReplyFormat compiled_format(nb::handle given) {
  if (nb::isinstance<PyReplyFormat>(given)) return nb::cast<PyReplyFormat&>(given).format;
  return take(CompiledReplyFormat::make(format_of(given)));
}

ReplyOptions reply_options_of(nb::handle tools, std::optional<std::string> prompt, bool begin_in_reasoning,
                              bool no_calls_in_reasoning, bool check_calls) {
  ReplyOptions options;
  if (tools.is_valid() && !tools.is_none()) options.tools = take(ReplyTools::from_json(json_of_tools(tools)));
  options.prompt = std::move(prompt);
  options.begin_in_reasoning = begin_in_reasoning;
  options.no_calls_in_reasoning = no_calls_in_reasoning;
  options.check_calls = check_calls;
  return options;
}

// ---- events

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

// ---- feeding

/// All of them are looked at before the first is read, and a tokenizer in Python is asked for all texts.
void feed_ids(PyReplyReader& self, const std::vector<TokenId>& ids, std::vector<PyReplyEvent>& events) {
  if (self.tokenizer() == nullptr) raise_argument("a reader of ids needs a tokenizer: ReplyReader(…, tokenizer=…)");
  check(check_ids(*self.tokenizer(), ids));
  std::vector<std::string> texts;
  for (const TokenId id : ids) {
    texts.push_back(self.tokenizer()->token_text(id));
    raise_kept();
  }
  self.take_ids(ids, texts, events);
}

/// A bytearray, or a memoryview of bytes. One of an array of ids has items of another size.
bool is_buffer_of_bytes(nb::handle data) {
  if (PyByteArray_Check(data.ptr()) != 0) return true;
  return PyMemoryView_Check(data.ptr()) != 0 && nb::cast<std::size_t>(data.attr("itemsize")) == 1;
}

/// Also one of NumPy's numbers and an array without dimensions, such as an item of a tensor.
bool is_one_number(nb::handle data) {
  if (PyLong_Check(data.ptr()) != 0) return true;
  if (PyIndex_Check(data.ptr()) == 0) return false;
  const nb::object dimensions = nb::getattr(data, "ndim", nb::int_(0));
  return nb::isinstance<nb::int_>(dimensions) && nb::cast<long>(dimensions) == 0;
}

std::vector<PyReplyEvent> feed(PyReplyReader& self, nb::handle data) {
  std::vector<PyReplyEvent> events;
  if (PyUnicode_Check(data.ptr()) != 0) {
    nb::object kept;
    self.take(utf8_of(data, kept), events);
  } else if (PyBytes_Check(data.ptr()) != 0) {
    const auto bytes = nb::borrow<nb::bytes>(data);
    self.take({static_cast<const char*>(bytes.data()), bytes.size()}, events);
  } else if (is_buffer_of_bytes(data)) {
    const auto bytes = nb::steal<nb::bytes>(PyBytes_FromObject(data.ptr()));
    if (!bytes.is_valid()) throw nb::python_error();
    self.take({static_cast<const char*>(bytes.data()), bytes.size()}, events);
  } else if (is_one_number(data)) {
    feed_ids(self, {id_of(data)}, events);
  } else {
    std::vector<TokenId> ids;
    PythonItems items(data);
    for (nb::object id = items.next(); id.is_valid(); id = items.next()) ids.push_back(id_of(id));
    feed_ids(self, ids, events);
  }
  return events;
}

/// The generators are Python's.
template <char Kind>
nb::object streamed(nb::handle self, nb::handle pieces) {
  return call_python(imported("parlance._streams", Kind == 'a' ? "astream" : "stream"), self, pieces);
}

std::vector<PyReplyEvent> finish(PyReplyReader& self) {
  std::vector<PyReplyEvent> events;
  self.end(events);
  return events;
}

}  // namespace

namespace {

void bind_format(nb::module_& module) {
  nb::class_<PyReplyFormat>(module, "ReplyFormat", "How a model writes its replies.")
      .def(
          "__init__",
          [](PyReplyFormat* self, nb::handle given) {
            new (self) PyReplyFormat{compiled_format(given), {}};
          },
          "format"_a, nb::sig("def __init__(self, format: str | dict[str, typing.Any]) -> None"),
          "Takes a built-in format's name, or the JSON that `parlance format --reply-format` prints.\n\nRaises "
          "parlance.Error with the path of a wrong member.")
      .def(
          "to_json", [](const PyReplyFormat& f) { return f.format.source().to_json(); }, "The format as JSON text.")
      .def_static("from_response_template", &from_response_template, "response_template"_a,
                  nb::sig("def from_response_template(response_template: str | dict[str, typing.Any]) -> ReplyFormat"),
                  "Of a response_template of transformers (tokenizer_config.json); `notes` lists what was not used.\n\n"
                  "Raises parlance.Error, also ValueError, for one that transformers refuses, or whose regular "
                  "expressions a ReplyFormat cannot express.")
      .def("to_response_template", &to_response_template, nb::kw_only(), "reasoning_key"_a = "reasoning_content",
           nb::sig("def to_response_template(self, *, reasoning_key: str = 'reasoning_content') -> "
                   "tuple[dict[str, typing.Any], list[str]]"),
           "The format as a response_template of transformers 5.24, and sentences on what that does not read as a "
           "ReplyReader does.\n\nRaises parlance.Error, also ValueError, if it cannot be expressed.")
      .def("__getstate__",
           [](const PyReplyFormat& f) {
             return nb::make_tuple(kept_bytes(f.format.source().to_json()), kept_texts(f.notes));
           })
      .def("__setstate__",
           [](PyReplyFormat& self, const nb::tuple& state) {
             const ReplyFormat format = take(ReplyFormat::from_json(kept_text(state[0])));
             new (&self) PyReplyFormat{take(CompiledReplyFormat::make(format)), texts_of_kept(state[1])};
           })
      .def("__copy__", &itself, nb::sig("def __copy__(self) -> ReplyFormat"))
      .def("__deepcopy__", &itself_deep, "memo"_a,
           nb::sig("def __deepcopy__(self, memo: dict[int, typing.Any]) -> ReplyFormat"))
      .def("__repr__", [](const PyReplyFormat& f) { return "<ReplyFormat " + f.format.source().to_json() + ">"; })
      .def(
          "__eq__",
          [](const PyReplyFormat& a, const PyReplyFormat& b) { return a.format.source() == b.format.source(); },
          nb::is_operator())
      .def_ro("notes", &PyReplyFormat::notes, "What from_response_template() did not use, one line each.");
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

using ReaderClass = nb::class_<PyReplyReader>;

ReaderClass bind_reader(nb::module_& module) {
  ReaderClass reader(module, "ReplyReader",
                     "Reads a reply while it arrives: str, bytes or token ids, cut anywhere.\n\nThreads: one at a "
                     "time; of several, the calls come one after the other.");
  reader.def(
      "__init__",
      [](PyReplyReader* self, nb::handle format, nb::handle tools, std::optional<std::string> prompt,
         nb::handle tokenizer, bool begin_in_reasoning, bool no_calls_in_reasoning, bool check_calls) {
        new (self) PyReplyReader(
            compiled_format(format),
            reply_options_of(tools, std::move(prompt), begin_in_reasoning, no_calls_in_reasoning, check_calls),
            tokenizer.is_none() ? nullptr : tokenizer_in(tokenizer).tokenizer);
      },
      "format"_a, nb::kw_only(), "tools"_a = nb::none(), "prompt"_a = nb::none(), "tokenizer"_a = nb::none(),
      "begin_in_reasoning"_a = false, "no_calls_in_reasoning"_a = false, "check_calls"_a = false,
      nb::sig("def __init__(self, format: ReplyFormat | str | dict[str, typing.Any], *, tools: "
              "collections.abc.Iterable[typing.Any] | None = None, "
              "prompt: str | None = None, tokenizer: typing.Any = None, begin_in_reasoning: bool = False, "
              "no_calls_in_reasoning: bool = False, check_calls: bool = False) -> None"),
      "`prompt` is the end of the prompt, from the assistant's turn on. Ids need a tokenizer. "
      "`begin_in_reasoning=True`: the reply begins inside reasoning, whatever the prompt's end is. "
      "`no_calls_in_reasoning=True`: calls inside reasoning are text. `check_calls=True`: a call that does not fit "
      "its tool gives a malformed event.");
  return reader;
}

/// What a reader is given.
void bind_feeding(ReaderClass& reader) {
  reader
      .def("feed", &feed, "data"_a,
           nb::sig("def feed(self, data: str | bytes | bytearray | memoryview | int | collections.abc.Iterable[int]) "
                   "-> list[ReplyEvent]"),
           "Reads the next piece: text, bytes, an id or ids.\n\nRaises parlance.Error, also ValueError, for an id "
           "that is not below the size of the tokenizer's vocabulary; none of the piece was read then.")
      .def("finish", &finish, "Ends the reply; gives the events of what was held back.")
      .def("stream", &streamed<'s'>, "pieces"_a,
           nb::sig("def stream(self, pieces: collections.abc.Iterable[str | bytes | bytearray | memoryview | int | "
                   "collections.abc.Iterable[int]]) -> collections.abc.Iterator[ReplyEvent]"),
           "The events of each piece as soon as it is there, and at last those of finish().")
      .def("astream", &streamed<'a'>, "pieces"_a,
           nb::sig(
               "def astream(self, pieces: collections.abc.AsyncIterable[str | bytes | bytearray | memoryview | int | "
               "collections.abc.Iterable[int]]) -> collections.abc.AsyncIterator[ReplyEvent]"),
           "The same for an asynchronous source: `async for event in reader.astream(source)`.");
}

/// What it has read.
void bind_read(ReaderClass& reader) {
  reader
      .def_prop_ro(
          "message", [](const PyReplyReader& r) { return r.message(); }, "The message so far.")
      .def("_message_at_end", &PyReplyReader::message_at_end,
           "What `message` would be after finish(), of a reader that goes on.")
      .def_prop_ro(
          "kinds",
          [](const PyReplyReader& r) {
            nb::list all;
            for (const KindRange& range : r.ranges())
              all.append(nb::make_tuple(nb::str(name_of(range.kind).data(), name_of(range.kind).size()), range.begin,
                                        range.end));
            return all;
          },
          nb::sig("def kinds(self) -> list[tuple[str, int, int]]"),
          ("(kind, begin, end) of the bytes read so far, in order: " + listed(kinds_of_replies()) +
           ", as in Rendering.kinds.")
              .c_str())
      .def("__repr__", [](const PyReplyReader& r) { return "<ReplyReader " + r.message().message_json() + ">"; })
      .def(
          "copy", [](const PyReplyReader& r) { return r.copy(); }, "A reader that goes on by itself.");
}

void bind_reading(nb::module_& module) {
  module.def(
      "read",
      [](nb::handle reply, nb::handle format, nb::handle tools, std::optional<std::string> prompt, nb::handle tokenizer,
         bool begin_in_reasoning, bool no_calls_in_reasoning, bool check_calls) {
        PyReplyReader reader(
            compiled_format(format),
            reply_options_of(tools, std::move(prompt), begin_in_reasoning, no_calls_in_reasoning, check_calls),
            tokenizer.is_none() ? nullptr : tokenizer_in(tokenizer).tokenizer);
        feed(reader, reply);
        finish(reader);
        return reader.message();
      },
      "reply"_a, "format"_a, nb::kw_only(), "tools"_a = nb::none(), "prompt"_a = nb::none(), "tokenizer"_a = nb::none(),
      "begin_in_reasoning"_a = false, "no_calls_in_reasoning"_a = false, "check_calls"_a = false,
      nb::sig(
          "def read(reply: str | bytes | bytearray | memoryview | int | collections.abc.Iterable[int], format: "
          "ReplyFormat | str | dict[str, typing.Any], *, tools: collections.abc.Iterable[typing.Any] | None = None, "
          "prompt: str | None = None, tokenizer: typing.Any = None, begin_in_reasoning: bool = False, "
          "no_calls_in_reasoning: bool = False, check_calls: bool = False) -> Message"),
      "Reads a whole reply: text, bytes, or ids of a tokenizer. The other arguments are those of ReplyReader.");
  module.def(
      "read_conversation",
      [](const std::string& text, nb::handle format) {
        return from_json(take(read_conversation(format_of(format), text)));
      },
      "text"_a, "format"_a,
      nb::sig("def read_conversation(text: str, format: ReplyFormat | str | dict[str, typing.Any]) -> dict[str, "
              "typing.Any]"),
      "Reads a whole prompt as the request that renders to it: {'messages': […]}.\n\nRaises parlance.Error, also "
      "ValueError, if the format knows no turns, or the text does not begin with one.");
  module.def(
      "formats",
      [] {
        std::vector<std::string> names;
        for (const BuiltinFormat& format : builtin_formats()) names.emplace_back(format.name);
        return names;
      },
      "The names of the built-in formats.");
}

}  // namespace

void bind_replies(nb::module_& module) {
  bind_format(module);
  bind_reply_event(module);
  bind_call(module);
  bind_message(module);
  ReaderClass reader = bind_reader(module);
  bind_feeding(reader);
  bind_read(reader);
  bind_reading(module);
}

}  // namespace parlance::python
