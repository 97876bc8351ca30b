// ReplyReader, and reading whole replies. Begin reading at bind_replies.
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
    const std::lock_guard lock(own_lock(OwnLock::formats));
    static auto* const only =
        new TokenFormats;  // a reader may be made until Python ends; fork() waits until it is there
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
  const LockGuard guard(lock_.now());
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
  const LockGuard guard(lock_.now());
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
  const LockGuard guard(lock_.now());
  const auto sink = sink_into(events);
  if (!begun_.empty()) parser_.feed(std::exchange(begun_, {}), sink);
  parser_.finish(sink);
}

ReplyMessage PyReplyReader::message() const {
  const LockGuard guard(lock_.now());
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
  const LockGuard guard(lock_.now());
  return kinds_.ranges();
}

PyReplyReader PyReplyReader::copy() const {
  const LockGuard guard(lock_.now());
  return *this;
}

namespace {

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
  ReaderClass reader = bind_reader(module);
  bind_feeding(reader);
  bind_read(reader);
  bind_reading(module);
}

}  // namespace parlance::python
