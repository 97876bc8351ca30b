// Rendering and Span: a prompt, where its text came from, and what is made of it. Begin reading at bind_renderings.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <set>

#include "errors.h"
#include "gil.h"
#include "grammars.h"
#include "lent.h"
#include "names.h"
#include "own_locks.h"
#include "pickles.h"
#include "replies.h"
#include "templates.h"
#include "tokenizers.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

using RenderingClass = nb::class_<PyRendering>;

/// What a span says of itself.
struct SpanFacts {
  std::string origin;
  bool control = false;
  std::int32_t message = -1;
  std::string path;
  std::uint32_t line = 0, column = 0;
};

struct PySpan {
  std::shared_ptr<Prompt> prompt;  ///< null: it was pickled, and has its facts
  Span span;
  Range range;
  SpanFacts kept{};

  std::string origin() const { return prompt == nullptr ? kept.origin : std::string(origin_name(span.origin)); }
  bool control() const { return prompt == nullptr ? kept.control : span.control; }
  std::int32_t message() const { return prompt == nullptr ? kept.message : span.message; }
  std::string path() const { return prompt == nullptr ? kept.path : path_of_span(prompt->request.conversation, span); }
  std::pair<std::uint32_t, std::uint32_t> place() const {
    if (prompt == nullptr) return {kept.line, kept.column};
    const auto found = place_of_span(prompt->rendering, span);
    return {static_cast<std::uint32_t>(found.line), static_cast<std::uint32_t>(found.column)};
  }
};

nb::tuple state_of_span(const PySpan& span) {
  const auto [line, column] = span.place();
  return nb::make_tuple(span.range.first, span.range.second, kept_bytes(span.origin()), span.control(), span.message(),
                        kept_bytes(span.path()), line, column);
}

void set_state_of_span(PySpan& self, const nb::tuple& state) {
  const Range range{nb::cast<std::size_t>(state[0]), nb::cast<std::size_t>(state[1])};
  SpanFacts facts{kept_text(state[2]), nb::cast<bool>(state[3]),          nb::cast<std::int32_t>(state[4]),
                  kept_text(state[5]), nb::cast<std::uint32_t>(state[6]), nb::cast<std::uint32_t>(state[7])};
  new (&self) PySpan{nullptr, {}, range, std::move(facts)};
}

nb::str text_of(const PyRendering& rendering) {
  return rendering.text.get([&] { return exact_text_to_python(rendering.prompt->rendering.text(), true); });
}

std::vector<PySpan> spans_of(const PyRendering& rendering) {
  std::vector<PySpan> all;
  for (const Span& span : rendering.prompt->rendering.spans())
    all.push_back({rendering.prompt, span, rendering.range(span.begin, span.end)});
  return all;
}

/// Where each message's bytes are: stretches without those of another message between them.
nb::list message_ranges(const PyRendering& rendering) {
  nb::list all;
  std::size_t begin = 0, end = 0;
  std::int32_t message = -1;
  const auto close = [&] {
    if (message >= 0) all.append(nb::make_tuple(message, rendering.range(begin, end)));
  };
  for (const Span& span : rendering.prompt->rendering.spans()) {
    if (span.message < 0) continue;
    if (span.message != message) {
      close();
      begin = span.begin;
      message = span.message;
    }
    end = span.end;
  }
  close();
  return all;
}

std::vector<std::string> notes_of(const PyRendering& rendering) {
  std::vector<std::string> notes = rendering.notes;
  const std::vector<std::string>& changes = rendering.prompt->request.conversation.notes();
  notes.insert(notes.end(), changes.begin(), changes.end());
  const std::vector<std::string>& more = rendering.prompt->rendering.notes();
  notes.insert(notes.end(), more.begin(), more.end());
  return notes;
}

nb::list losses_of(const PyRendering& rendering) {
  const Prompt& prompt = *rendering.prompt;
  std::optional<Result<CheckedRendering>> checked;
  {
    const GilRelease release;
    const LossFinder finder(*prompt.engine->reader.template_for(prompt.request.conversation));
    checked = finder.render(prompt.request.conversation, prompt.options, *LentWorkspace());
  }
  if (!*checked) raise(checked->error());
  nb::list all;
  for (Loss& loss : (**checked).losses) {
    loss.hint = in_python(loss.hint);
    all.append(loss);
  }
  return all;
}

PyTokens tokens_of(nb::handle self, nb::handle given, std::vector<std::string> trust, bool protect, bool plain_added,
                   bool add_special_tokens) {
  const PyTokenizer tokenizer = tokenizer_in(given);
  const std::shared_ptr<Prompt>& of = nb::cast<const PyRendering&>(self).prompt;
  const Prompt& prompt = *of;
  TokenizeOptions options;
  options.trust = std::move(trust);
  options.protect = protect;
  options.plain_added = plain_added;
  options.add_special_tokens = add_special_tokens;
  Result<PromptTokens> made = [&]() -> Result<PromptTokens> {
    const GilRelease release;
    if (Result<void> fits = check_trust(prompt.request.conversation, options.trust); !fits) return fits.error();
    return tokenize(prompt.rendering, prompt.request.conversation, *tokenizer.tokenizer, options);
  }();
  return PyTokens{std::make_shared<PromptTokens>(take(std::move(made))), of, nb::borrow(self)};
}

/// (kind, (begin, end)) of what the assistant wrote.
nb::list kinds_in(const PyRendering& rendering) {
  nb::list all;
  for (const KindRange& range : kinds_of(*rendering.prompt)) {
    const std::string_view name = name_of(range.kind);
    all.append(nb::make_tuple(nb::str(name.data(), name.size()), rendering.range(range.begin, range.end)));
  }
  return all;
}

// ---- pickles of a rendering: what the template was given, so that it writes the same again

nb::tuple reduced_rendering(PyRendering& self) {
  Prompt& prompt = *self.prompt;
  const RenderOptions& options = prompt.options;
  const std::string json = json_text(prompt.request.conversation.variables());
  const CivilTime& now = options.now;
  std::vector<std::string> notes = self.notes;
  const std::vector<std::string>& changes = prompt.request.conversation.notes();
  notes.insert(notes.end(), changes.begin(), changes.end());
  return nb::make_tuple(
      imported("parlance._core", "_rendered_again"),
      nb::make_tuple(self.chat_template, kept_bytes(json), notes, options.add_generation_prompt, options.continue_final,
                     options.want_assistant, options.want_spans,
                     nb::make_tuple(now.year, now.month, now.day, now.hour, now.minute, now.second, now.microsecond)));
}

PyRendering rendered_again(nb::handle chat_template, const nb::bytes& json, std::vector<std::string> notes,
                           std::optional<bool> generation, std::optional<bool> continued, bool assistant, bool spans,
                           const nb::tuple& now) {
  const std::shared_ptr<const Engine>& engine = nb::cast<const PyTemplate&>(chat_template).engine;
  RenderOptions options;
  options.add_generation_prompt = generation;
  options.continue_final = continued;
  options.want_assistant = assistant;
  options.want_spans = spans;
  options.limits = engine->limits();
  options.as_is = engine->is_as_is();
  const auto part = [&](int number) { return nb::cast<int>(now[number]); };
  options.now = {part(0), part(1), part(2), part(3), part(4), part(5), part(6)};
  const std::string_view text(static_cast<const char*>(json.data()), json.size());
  return {render_variables(engine, text, options), nb::borrow(chat_template), std::move(notes), {}};
}

PyReplyReader reader_of(const PyRendering& rendering, nb::handle tokenizer, bool begin_in_reasoning,
                        bool no_calls_in_reasoning, bool check_calls) {
  ReplyStart start = start_of(*rendering.prompt);
  start.options.begin_in_reasoning |= begin_in_reasoning;
  start.options.no_calls_in_reasoning |= no_calls_in_reasoning;
  start.options.check_calls = check_calls;
  return {start.format, start.options, tokenizer.is_none() ? nullptr : tokenizer_in(tokenizer).tokenizer};
}

// ---- classes

void bind_span(nb::module_& module) {
  nb::class_<PySpan>(module, "Span", "Characters [begin, end) of a prompt that came from one place.")
      .def_prop_ro(
          "begin", [](const PySpan& s) { return s.range.first; }, "The first character's place in the text.")
      .def_prop_ro(
          "end", [](const PySpan& s) { return s.range.second; }, "One past the last character's place.")
      .def_prop_ro(
          "origin", [](const PySpan& s) { return s.origin(); },
          "'literal' (the template's own text), 'input' (unchanged), 'derived' (made from the input: escapes, "
          "changed case) or 'computed'.")
      .def_prop_ro(
          "control", [](const PySpan& s) { return s.control(); },
          "Whether it is a literal shaped like a control token, or a special token.")
      .def_prop_ro(
          "message",
          [](const PySpan& s) -> std::optional<int> {
            if (s.message() < 0) return std::nullopt;
            return s.message();
          },
          "The index of the message to which it belongs; None for none.")
      .def_prop_ro(
          "path", [](const PySpan& s) { return s.path(); },
          "'messages[3].content' for text from the input; '' for other text.")
      .def_prop_ro(
          "line", [](const PySpan& s) { return s.place().first; },
          "The template's line for a literal, from 1; 0 for other text.")
      .def_prop_ro(
          "column", [](const PySpan& s) { return s.place().second; }, "The column in that line, from 1.")
      .def("__getstate__", &state_of_span)
      .def("__setstate__", &set_state_of_span)
      .def("__repr__", [](const PySpan& s) {
        return "Span(" + std::to_string(s.range.first) + ", " + std::to_string(s.range.second) + ", '" + s.origin() +
               "', '" + s.path() + "')";
      });
}

nb::tuple state_of_loss(const Loss& loss) {
  return nb::make_tuple(loss.kind == LossKind::lost, kept_bytes(loss.subject), kept_bytes(loss.path),
                        kept_bytes(loss.sentence), kept_bytes(loss.hint));
}

/// A subject is one of a few words, which stay.
std::string_view lasting_subject(std::string subject) {
  const std::lock_guard lock(own_lock(OwnLock::subjects));
  static auto* const subjects = new std::set<std::string>;  // fork() waits until it is there
  return *subjects->insert(std::move(subject)).first;
}

void set_state_of_loss(Loss& self, const nb::tuple& state) {
  const std::string_view subject = lasting_subject(kept_text(state[1]));
  const LossKind kind = nb::cast<bool>(state[0]) ? LossKind::lost : LossKind::left_out;
  new (&self) Loss{kind, subject, kept_text(state[2]), kept_text(state[3]), kept_text(state[4])};
}

void bind_loss(nb::module_& module) {
  nb::class_<Loss>(module, "Loss", "A part of a request that is not in its prompt.")
      .def_prop_ro(
          "kind", [](const Loss& l) { return std::string(name_of(l.kind)); },
          "'lost', or 'left out' for what templates leave out by design.")
      .def_prop_ro(
          "subject", [](const Loss& l) { return std::string(l.subject); },
          "What kind of part: 'message', 'part', 'tool', 'variable', …")
      .def_ro("path", &Loss::path, "Where it stands in the request: 'messages[2].content[1]'.")
      .def_ro("sentence", &Loss::sentence, "What happened to it.")
      .def_ro("hint", &Loss::hint, "What may help; '' for nothing.")
      .def("__getstate__", &state_of_loss)
      .def("__setstate__", &set_state_of_loss)
      .def("__str__", &Loss::display)
      .def("__repr__", [](const Loss& l) { return "<Loss " + l.display() + ">"; });
}
/// The text, and what every object of Python has.
void bind_text(RenderingClass& rendering) {
  rendering.def_prop_ro("text", &text_of, "The prompt.")
      .def("__str__", &text_of)
      .def("__repr__",
           [](const PyRendering& r) {
             return "<Rendering, " + std::to_string(r.prompt->characters().before(r.prompt->rendering.text().size())) +
                    " characters>";
           })
      .def("__reduce__", &reduced_rendering, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"),
           "A pickle has what the template was given, and renders it again.")
      .def("__copy__", &itself, nb::sig("def __copy__(self) -> Rendering"))
      .def("__deepcopy__", &itself_deep, "memo"_a,
           nb::sig("def __deepcopy__(self, memo: dict[int, typing.Any]) -> Rendering"))
      .def("__len__",
           [](const PyRendering& r) { return r.prompt->characters().before(r.prompt->rendering.text().size()); });
}

/// Where in the text what stands.
void bind_ranges(RenderingClass& rendering) {
  rendering.def_prop_ro("spans", &spans_of, "The prompt without gaps, in order, by where the text came from.")
      .def_prop_ro("message_ranges", &message_ranges,
                   nb::sig("def message_ranges(self) -> list[tuple[int, tuple[int, int]]]"),
                   "(index, (begin, end)) for each stretch of text of one message, in the prompt's order.")
      .def_prop_ro(
          "generation", [](const PyRendering& r) { return r.ranges(r.prompt->rendering.generation()); },
          "The ranges of {% generation %} blocks, in the order in which the blocks end.")
      .def_prop_ro(
          "assistant", [](const PyRendering& r) { return r.ranges(r.prompt->rendering.assistant()); },
          "The ranges that training learns; empty unless render() was given assistant=True.")
      .def_prop_ro(
          "kinds", [](const PyRendering& r) { return kinds_in(r); },
          nb::sig("def kinds(self) -> list[tuple[str, tuple[int, int]]]"),
          ("(kind, (begin, end)) of all that is in `assistant`, in order: " + listed(kinds_of_replies()) + "; " +
           quoted(name_of(ReplyKind::marker)) + " is other markup, " + quoted(name_of(ReplyKind::stop)) +
           " the end of the turn. The turns are read as replies; control tokens that a message only quotes are text.")
              .c_str());
}

/// What is made of it.
void bind_uses(RenderingClass& rendering) {
  rendering.def_prop_ro("notes", &notes_of, "What was changed in the request, one line each.")
      .def("losses", &losses_of, nb::sig("def losses(self) -> list[Loss]"),
           "Everything in the request that is not in the prompt. Renders again, a few times.")
      .def(
          "tokens", &tokens_of, "tokenizer"_a.none(), nb::kw_only(), "trust"_a = std::vector<std::string>(),
          "protect"_a = true, "plain_added"_a = false, "add_special_tokens"_a = false,
          nb::sig("def tokens(self, tokenizer: typing.Any, *, trust: collections.abc.Sequence[str] = (), protect: bool "
                  "= True, plain_added: bool = False, add_special_tokens: bool = False) -> Tokens"),
          "Encodes the prompt. With `protect`, no text of the request becomes a control token, except in the paths of "
          "`trust`: \"messages[0].content\", \"messages[*].tool_calls\", \"messages[assistant]\". With `plain_added`, "
          "added tokens that are not "
          "special "
          "(such as Gemma's <h1>) may come from any text; wrong for models whose markers are such tokens "
          "(<tool_call>). "
          "`add_special_tokens` adds what the tokenizer itself puts around a text, unless it is there.\n\nRaises "
          "parlance.Error, among others (also "
          "ValueError, with the nearest path as its hint) for a path of `trust` at which this request has nothing; one "
          "with [*] need not lead anywhere, if it is not misspelt.   Threads: any; releases the GIL.")
      .def("reader", &reader_of, nb::kw_only(), "tokenizer"_a = nb::none(), "begin_in_reasoning"_a = false,
           "no_calls_in_reasoning"_a = false, "check_calls"_a = false,
           nb::sig("def reader(self, *, tokenizer: typing.Any = None, begin_in_reasoning: bool = False, "
                   "no_calls_in_reasoning: bool = False, check_calls: bool = False) -> ReplyReader"),
           "A reader for the reply to this prompt, which begins where the prompt ends. How the model writes replies is "
           "found by experiments with the template, once for each template. The arguments are those of ReplyReader.")
      .def_prop_ro(
          "reply_format", [](const PyRendering& r) { return PyReplyFormat{start_of(*r.prompt).format}; },
          "How the model writes replies to this prompt.");
}

void bind_plain(nb::module_& module) {
  module.def("_rendered_again", &rendered_again, "template"_a, "json"_a, "notes"_a, "generation"_a.none(),
             "continued"_a.none(), "assistant"_a, "spans"_a, "now"_a,
             nb::sig("def _rendered_again(template: Template, json: bytes, notes: collections.abc.Sequence[str], "
                     "generation: bool | None, continued: bool | None, assistant: bool, spans: bool, now: tuple[int, "
                     "...]) -> Rendering"));
  module.def("_plain_value", &plain_value, "value"_a.none(),
             nb::sig("def _plain_value(value: typing.Any) -> typing.Any"));
  module.def("_plain_messages", &plain_messages, "messages"_a.none(),
             nb::sig("def _plain_messages(messages: collections.abc.Iterable[typing.Any]) -> list[typing.Any]"));
  module.def("_plain_tools", &plain_tools, "tools"_a.none(),
             nb::sig("def _plain_tools(tools: collections.abc.Iterable[typing.Any]) -> list[typing.Any]"));
}

}  // namespace

void bind_renderings(nb::module_& module) {
  bind_span(module);
  bind_loss(module);
  RenderingClass rendering(module, "Rendering", nb::is_weak_referenceable(),
                           "A prompt, and where every character of it came from. Ranges count characters of `text`.");
  bind_text(rendering);
  bind_ranges(rendering);
  bind_uses(rendering);
  bind_grammar_of(rendering);
  bind_plain(module);
}

}  // namespace parlance::python
