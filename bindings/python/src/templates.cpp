// Template and Rendering. Begin reading at bind_templates.
#include "templates.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>

#include "errors.h"
#include "grammars.h"
#include "names.h"
#include "parlance/source.h"
#include "prompt.h"
#include "replies.h"
#include "tokenizers.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

/// How requests are read, of the keyword arguments that every factory takes; PARLANCE_READING is the end of their
/// signatures.
#define PARLANCE_READING                                                                                         \
  "adapt: bool = True, as_transformers: bool | str | None = None, allow_changes: bool = False, "                 \
  "passes: str | collections.abc.Sequence[str] = (), skip_passes: str | collections.abc.Sequence[str] = ()) -> " \
  "Template"

void follow_transformers(RequestOptions& options, nb::handle asked) {
  if (asked.is_none() || asked.is(nb::handle(Py_False))) return;
  options.read.as_transformers = true;
  if (PyUnicode_Check(asked.ptr()) == 0) return;
  const auto name = nb::cast<std::string>(asked);
  const TransformersRelease* const release = find_transformers(name);
  if (release == nullptr) throw nb::value_error(("parlance does not follow transformers " + name).c_str());
  options.read.transformers = options.compile.transformers = release->version;
}

/// One name, or several.
std::vector<std::string> names_in(nb::handle given) {
  if (PyUnicode_Check(given.ptr()) != 0) return {nb::cast<std::string>(given)};
  std::vector<std::string> names;
  for (nb::handle name : nb::iter(given)) names.push_back(nb::cast<std::string>(name));
  return names;
}

void set_option(RequestOptions& options, const std::string& name, nb::handle value) {
  if (name == "adapt") {
    options.adapt = nb::cast<bool>(value);
  } else if (name == "allow_changes") {
    options.compile.allow_changes = nb::cast<bool>(value);
  } else if (name == "as_transformers") {
    follow_transformers(options, value);
  } else if (name == "_of_batch") {  // for apply_chat_template, which looks by itself whether a single chat is empty
    options.read.of_batch = nb::cast<bool>(value);
  } else if (name == "passes") {
    for (const std::string& words : names_in(value)) check(options.read.passes.run(words));
  } else if (name == "skip_passes") {
    for (const std::string& pass : names_in(value)) check(options.read.passes.skip(pass));
  } else {
    throw nb::type_error(("there is no keyword argument '" + name + "'").c_str());
  }
}

RequestOptions reading_of(const nb::kwargs& given) {
  RequestOptions options;
  for (const auto& [name, value] : given) set_option(options, nb::cast<std::string>(name), value);
  return options;
}

PyTemplate open_source(ModelSource source, RequestOptions options) {
  auto engine = std::make_shared<Engine>(RequestReader(std::move(source), std::move(options)));
  const Result<Template>* compiled = nullptr;
  {
    const nb::gil_scoped_release release;
    compiled = &engine->reader.chat_template(false);
  }
  if (!*compiled) raise(compiled->error());
  return {std::move(engine)};
}

ModelStores stores() {
  return model_stores([](const char* name) -> const char* { return std::getenv(name); });
}

/// How a template was opened, for pickles.
PyTemplate opened_by(PyTemplate made, const char* factory, nb::handle argument, const nb::kwargs& reading,
                     const nb::dict& more = {}) {
  nb::dict keywords;
  keywords.update(reading);
  keywords.update(more);
  made.opened = nb::make_tuple(factory, nb::make_tuple(nb::borrow(argument)), keywords);
  return made;
}

PyTemplate from_pretrained(nb::handle given_path, std::optional<std::string> name, const nb::kwargs& reading) {
  const std::string path = path_of(given_path);
  RequestOptions options = reading_of(reading);
  nb::dict more;
  if (name) more["name"] = *name;
  options.template_name = std::move(name);
  return opened_by(open_source(take(open_model(path, stores())), std::move(options)), "from_pretrained", given_path,
                   reading, more);
}

/// A model of Ollama's, by its name there.
PyTemplate from_ollama(const std::string& name, const nb::kwargs& reading) {
  const ModelStores all = stores();
  ModelStores only;
  only.ollama = all.ollama;
  only.home = all.home;
  return opened_by(open_source(take(open_model(name, only)), reading_of(reading)), "from_ollama", nb::cast(name),
                   reading);
}

PyTemplate from_file(nb::handle given_path, const nb::kwargs& reading) {
  const std::string path = path_of(given_path);
  ModelSource source;
  source.path = path;
  source.templates.push_back(take(open_template_file(path)));
  return opened_by(open_source(std::move(source), reading_of(reading)), "from_file", given_path, reading);
}

PyTemplate from_string(nb::str text, nb::handle special_tokens, const std::string& syntax, const nb::kwargs& reading) {
  if (syntax != "jinja" && syntax != "go") throw nb::value_error("syntax is 'jinja' or 'go'");
  nb::object kept;
  ModelSource source;
  source.templates.push_back(
      {"default", std::string(utf8_of(text, kept)), "<template>", syntax == "go" ? Syntax::go : Syntax::jinja});
  if (!special_tokens.is_none()) {
    for (const auto& [name, value] : nb::cast<nb::dict>(special_tokens))
      source.special_tokens.push_back({nb::cast<std::string>(name), nb::cast<std::string>(value)});
  }
  nb::dict more;
  more["special_tokens"] = nb::borrow(special_tokens);
  more["syntax"] = syntax;
  return opened_by(open_source(std::move(source), reading_of(reading)), "from_string", text, reading, more);
}

PyTemplate builtin(const std::string& name, const nb::kwargs& reading) {
  RequestOptions options = reading_of(reading);
  ModelSource source = take(open_format(name));
  options.reply_format = take(ReplyFormat::from_json(find_format(name)->reply));
  return opened_by(open_source(std::move(source), std::move(options)), "builtin", nb::cast(name), reading);
}

/// As transformers gives a conversation to a template: objects that are no JSON are placeholders.
PyRendering render_plain(const PyTemplate& self, nb::handle messages, nb::handle tools, nb::handle documents,
                         nb::dict variables, bool assistant, bool spans) {
  return PyRendering{render_prompt(self.engine, {.messages = messages,
                                                 .tools = tools,
                                                 .documents = documents,
                                                 .assistant = assistant,
                                                 .spans = spans,
                                                 .variables = variables,
                                                 .take = {.tuples = true, .placeholders = true}}),
                     self.opened};
}

/// How replies are written under some variables, where the prompt is not known.
PyReplyFormat reply_format_of(const PyTemplate& self, nb::kwargs variables) {
  DocumentBuilder builder;
  ObjectTaker taker(builder, {});
  taker.take(variables);
  Document document;
  check(document.build(builder));
  Result<ReplyStart> start = [&] {
    const nb::gil_scoped_release release;
    return self.engine->reader.reply(document.root());
  }();
  return {take(std::move(start)).format};
}

/// (id, text, sources) of the tokens that end a reply.
nb::list stop_tokens_of(const PyTemplate& self, nb::handle given) {
  const PyTokenizer tokenizer = tokenizer_in(given);
  Result<std::vector<StopToken>> found = [&]() -> Result<std::vector<StopToken>> {
    const nb::gil_scoped_release release;
    return self.engine->reader.stop_tokens(*tokenizer.tokenizer);
  }();
  nb::list all;
  for (const StopToken& token : take(std::move(found)))
    all.append(nb::make_tuple(token.id < 0 ? nb::object(nb::none()) : nb::object(nb::int_(token.id)),
                              text_to_python(token.text), token.sources));
  return all;
}

std::string name_of_template(const PyTemplate& self) {
  const Result<Template>& compiled = self.engine->reader.chat_template(false);
  return compiled ? std::string(compiled->name()) : std::string();
}

// ---- what a rendering shows

struct PySpan {
  std::shared_ptr<Prompt> prompt;
  Span span;
  Range range;
};

nb::str text_of(PyRendering& rendering) {
  if (!rendering.text.is_valid()) rendering.text = exact_text_to_python(rendering.prompt->rendering.text());
  return nb::borrow<nb::str>(rendering.text);
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
    const nb::gil_scoped_release release;
    const LossFinder finder(*prompt.engine->reader.template_for(prompt.request.conversation));
    checked = finder.render(prompt.request.conversation, prompt.options, workspace());
  }
  if (!*checked) raise(checked->error());
  nb::list all;
  for (const Loss& loss : (**checked).losses) all.append(loss);
  return all;
}

PyTokens tokens_of(const PyRendering& rendering, nb::handle given, std::vector<std::string> trust, bool protect,
                   bool plain_added, bool add_special_tokens) {
  const PyTokenizer tokenizer = tokenizer_in(given);
  const Prompt& prompt = *rendering.prompt;
  TokenizeOptions options;
  options.trust = std::move(trust);
  options.protect = protect;
  options.plain_added = plain_added;
  options.add_special_tokens = add_special_tokens;
  Result<PromptTokens> made = [&]() -> Result<PromptTokens> {
    const nb::gil_scoped_release release;
    if (Result<void> fits = check_trust(prompt.request.conversation, options.trust); !fits) return fits.error();
    return tokenize(prompt.rendering, prompt.request.conversation, *tokenizer.tokenizer, options);
  }();
  return PyTokens{std::make_shared<PromptTokens>(take(std::move(made))), rendering.prompt};
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
  const std::string json = [&] {
    const std::lock_guard lock(prompt.mutex);
    return json_text(prompt.request.conversation.variables());
  }();
  const CivilTime& now = options.now;
  std::vector<std::string> notes = self.notes;
  const std::vector<std::string>& changes = prompt.request.conversation.notes();
  notes.insert(notes.end(), changes.begin(), changes.end());
  return nb::make_tuple(
      nb::module_::import_("parlance._reopen").attr("rendered_again"),
      nb::make_tuple(PyTemplate{prompt.engine, self.opened}, nb::bytes(json.data(), json.size()), notes,
                     options.add_generation_prompt, options.continue_final, options.want_assistant, options.want_spans,
                     nb::make_tuple(now.year, now.month, now.day, now.hour, now.minute, now.second, now.microsecond)));
}

PyRendering rendered_again(const PyTemplate& self, const nb::bytes& json, std::vector<std::string> notes,
                           std::optional<bool> generation, std::optional<bool> continued, bool assistant, bool spans,
                           const nb::tuple& now) {
  RenderOptions options;
  options.add_generation_prompt = generation;
  options.continue_final = continued;
  options.want_assistant = assistant;
  options.want_spans = spans;
  const auto part = [&](int number) { return nb::cast<int>(now[number]); };
  options.now = {part(0), part(1), part(2), part(3), part(4), part(5), part(6)};
  const std::string_view text(static_cast<const char*>(json.data()), json.size());
  return {render_variables(self.engine, text, options), self.opened, std::move(notes), {}};
}

PyReplyReader reader_of(const PyRendering& rendering, nb::handle tokenizer, bool check_calls) {
  ReplyStart start = start_of(*rendering.prompt);
  start.options.check_calls = check_calls;
  return {start.format, start.options, tokenizer.is_none() ? nullptr : tokenizer_in(tokenizer).tokenizer};
}

}  // namespace

namespace {

void bind_span(nb::module_& module) {
  nb::class_<PySpan>(module, "Span", "Characters [begin, end) of a prompt that came from one place.")
      .def_prop_ro(
          "begin", [](const PySpan& s) { return s.range.first; }, "The first character's place in the text.")
      .def_prop_ro(
          "end", [](const PySpan& s) { return s.range.second; }, "One past the last character's place.")
      .def_prop_ro(
          "origin", [](const PySpan& s) { return std::string(origin_name(s.span.origin)); },
          "'literal' (the template's own text), 'input' (unchanged), 'derived' (made from the input: escapes, "
          "changed case) or 'computed'.")
      .def_prop_ro(
          "control", [](const PySpan& s) { return s.span.control; },
          "Whether it is a literal shaped like a control token, or a special token.")
      .def_prop_ro(
          "message",
          [](const PySpan& s) -> std::optional<int> {
            if (s.span.message < 0) return std::nullopt;
            return s.span.message;
          },
          "The index of the message to which it belongs; None for none.")
      .def_prop_ro(
          "path", [](const PySpan& s) { return path_of_span(s.prompt->request.conversation, s.span); },
          "'messages[3].content' for text from the input; '' for other text.")
      .def_prop_ro(
          "line", [](const PySpan& s) { return place_of_span(s.prompt->rendering, s.span).line; },
          "The template's line for a literal, from 1; 0 for other text.")
      .def_prop_ro(
          "column", [](const PySpan& s) { return place_of_span(s.prompt->rendering, s.span).column; },
          "The column in that line, from 1.")
      .def("__repr__", [](const PySpan& s) {
        return "Span(" + std::to_string(s.range.first) + ", " + std::to_string(s.range.second) + ", '" +
               std::string(origin_name(s.span.origin)) + "', '" + path_of_span(s.prompt->request.conversation, s.span) +
               "')";
      });
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
      .def("__str__", &Loss::display)
      .def("__repr__", [](const Loss& l) { return "<Loss " + l.display() + ">"; });
}

void bind_rendering(nb::module_& module) {
  nb::class_<PyRendering>(module, "Rendering",
                          "A prompt, and where every character of it came from. Ranges count characters of `text`.")
      .def_prop_ro("text", &text_of, "The prompt.")
      .def("__str__", &text_of)
      .def("__repr__",
           [](const PyRendering& r) {
             return "<Rendering, " + std::to_string(r.prompt->characters().before(r.prompt->rendering.text().size())) +
                    " characters>";
           })
      .def("__reduce__", &reduced_rendering, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"),
           "A pickle has what the template was given, and renders it again.")
      .def(
          "__copy__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __copy__(self) -> Rendering"))
      .def(
          "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, "memo"_a,
          nb::sig("def __deepcopy__(self, memo: dict[int, typing.Any]) -> Rendering"))
      .def("__len__",
           [](const PyRendering& r) { return r.prompt->characters().before(r.prompt->rendering.text().size()); })
      .def_prop_ro("spans", &spans_of, "The prompt without gaps, in order, by where the text came from.")
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
              .c_str())
      .def_prop_ro("notes", &notes_of, "What was changed in the request, one line each.")
      .def("losses", &losses_of, nb::sig("def losses(self) -> list[Loss]"),
           "Everything in the request that is not in the prompt. Renders again, a few times.")
      .def(
          "tokens", &tokens_of, "tokenizer"_a, nb::kw_only(), "trust"_a = std::vector<std::string>(),
          "protect"_a = true, "plain_added"_a = false, "add_special_tokens"_a = false,
          nb::sig("def tokens(self, tokenizer: typing.Any, *, trust: collections.abc.Sequence[str] = (), protect: bool "
                  "= True, plain_added: bool = False, add_special_tokens: bool = False) -> Tokens"),
          "Encodes the prompt. With `protect`, no text of the request becomes a control token, except in the paths of "
          "`trust`: \"messages[0].content\", \"messages[*].tool_calls\". With `plain_added`, added tokens that are not "
          "special "
          "(such as Gemma's <h1>) may come from any text; wrong for models whose markers are such tokens "
          "(<tool_call>). "
          "`add_special_tokens` adds what the tokenizer itself puts around a text, unless it is there.\n\nRaises "
          "parlance.Error, among others (also "
          "ValueError, with the nearest path as its hint) for a path of `trust` at which this request has nothing; one "
          "with [*] need not lead anywhere, if it is not misspelt.   Threads: any; releases the GIL.")
      .def("reader", &reader_of, nb::kw_only(), "tokenizer"_a = nb::none(), "check_calls"_a = false,
           nb::sig("def reader(self, *, tokenizer: typing.Any = None, check_calls: bool = False) -> ReplyReader"),
           "A reader for the reply to this prompt, which begins where the prompt ends. How the model writes replies is "
           "found by experiments with the "
           "template, once for each template.")
      .def_prop_ro(
          "reply_format", [](const PyRendering& r) { return PyReplyFormat{start_of(*r.prompt).format}; },
          "How the model writes replies to this prompt.")
      .def("grammar", &grammar_of_reply, nb::kw_only(), "tool_choice"_a = nb::none(), "tokenizer"_a = nb::none(),
           nb::sig("def grammar(self, *, tool_choice: str | None = None, tokenizer: typing.Any = None) -> Grammar"),
           "The grammar of the replies that this request allows, by its tools, tool_choice and response_format. "
           "`tool_choice` is 'auto', 'required', 'none' or a tool's name; a Lark grammar needs the tokenizer.");
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

void bind_template(nb::module_& module) {
  nb::class_<Engine>(module, "_Engine");
  nb::class_<PyTemplate>(module, "Template", "A chat template, compiled once and rendered by any number of threads.")
      .def_static(
          "from_pretrained", &from_pretrained, "path_or_name"_a, nb::kw_only(), "name"_a = nb::none(), "reading"_a,
          nb::sig("def from_pretrained(path_or_name: str | os.PathLike[str], *, name: str | None = "
                  "None, " PARLANCE_READING),
          "Opens a model: a folder, a GGUF file, a Modelfile, a name in Hugging Face's cache or in Ollama's "
          "folder. Nothing is downloaded. `name` chooses one of several templates.\n\n"
          "All of these take: `adapt=False`, not to adapt requests to the template; `as_transformers`, True or a "
          "release, to read them as apply_chat_template does; `allow_changes`, that the template may change lists "
          "that it made; `passes` and `skip_passes`, in the words of `parlance list passes`: "
          "passes=['text-only'].\n\nRaises parlance.Error (also OSError, JSONDecodeError or ValueError) if there "
          "is no such model, it has no template, or a pass is not known.")
      .def_static("from_gguf", &from_pretrained, "path"_a, nb::kw_only(), "name"_a = nb::none(), "reading"_a,
                  nb::sig("def from_gguf(path: str | os.PathLike[str], *, name: str | None = None, " PARLANCE_READING),
                  "Opens the template in a GGUF file's header.")
      .def_static("from_ollama", &from_ollama, "name"_a, "reading"_a,
                  nb::sig("def from_ollama(name: str, *, " PARLANCE_READING),
                  "Opens a model of Ollama's by its name: 'llama3.1:8b'. Nothing is downloaded.")
      .def_static("from_file", &from_file, "path"_a, "reading"_a,
                  nb::sig("def from_file(path: str | os.PathLike[str], *, " PARLANCE_READING),
                  "Compiles a template's file: .jinja, or .gotmpl for Go. It has no special tokens.")
      .def_static(
          "from_string", &from_string, "text"_a, nb::kw_only(), "special_tokens"_a = nb::none(), "syntax"_a = "jinja",
          "reading"_a,
          nb::sig("def from_string(text: str, *, special_tokens: dict[str, str] | None = None, syntax: str = "
                  "'jinja', " PARLANCE_READING),
          "Compiles a template's text. `special_tokens` are variables such as bos_token; `syntax` is 'jinja' or "
          "'go'.\n\nRaises parlance.Error (also jinja2.TemplateSyntaxError) with line and column.")
      .def_static("builtin", &builtin, "name"_a, "reading"_a, nb::sig("def builtin(name: str, *, " PARLANCE_READING),
                  "One of parlance's own formats: 'chatml', 'rnj-1', …")
      .def("reply_format", &reply_format_of, "variables"_a,
           nb::sig("def reply_format(self, **variables: typing.Any) -> ReplyFormat"),
           "How the model writes its replies, found by experiments with the template under these variables.")
      .def("stop_tokens", &stop_tokens_of, "tokenizer"_a,
           nb::sig("def stop_tokens(self, tokenizer: typing.Any) -> list[tuple[int | None, str, list[str]]]"),
           "(id, text, sources) of each token that ends a reply: what the template writes behind an assistant's turn, "
           "and "
           "what the tokenizer's files declare. The id is None where the tokenizer has no such token.")
      .def("_render_plain", &render_plain, "messages"_a, "tools"_a.none(), "documents"_a.none(), "variables"_a,
           nb::kw_only(), "assistant"_a = false, "spans"_a = false)
      .def("__repr__", [](const PyTemplate& self) { return "<Template " + name_of_template(self) + ">"; })
      .def(
          "__reduce__",
          [](const PyTemplate& self) {
            return nb::module_::import_("parlance._reopen").attr("reduced")("Template", self.opened);
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def_prop_ro(
          "_engine", [](const PyTemplate& self) { return self.engine; }, nb::sig("def _engine(self) -> _Engine"))
      .def(
          "render",
          [](const PyTemplate& self, nb::handle messages, nb::handle tools, nb::handle documents,
             std::optional<bool> add_generation_prompt, std::optional<bool> continue_final_message, nb::handle now,
             bool assistant, nb::kwargs variables) {
            return PyRendering{render_prompt(self.engine, {.messages = messages,
                                                           .tools = tools,
                                                           .documents = documents,
                                                           .add_generation_prompt = add_generation_prompt,
                                                           .continue_final_message = continue_final_message,
                                                           .now = now,
                                                           .assistant = assistant,
                                                           .variables = variables,
                                                           .take = {}}),
                               self.opened};
          },
          "messages"_a.none(), "tools"_a = nb::none(), "documents"_a = nb::none(), nb::kw_only(),
          "add_generation_prompt"_a = nb::none(), "continue_final_message"_a = nb::none(), "now"_a = nb::none(),
          "assistant"_a = false, "variables"_a,
          nb::sig("def render(self, messages: collections.abc.Iterable[typing.Any], tools: "
                  "collections.abc.Iterable[typing.Any] | None = None, documents: "
                  "collections.abc.Iterable[typing.Any] | None = None, *, add_generation_prompt: bool | None = None, "
                  "continue_final_message: "
                  "bool | None = None, now: datetime.datetime | None = None, assistant: bool = False, **variables: "
                  "typing.Any) "
                  "-> Rendering"),
          "Renders a conversation.\n\n"
          "`messages`, `tools` and `documents` are dicts, dataclasses or pydantic models; a tool may be a function "
          "with "
          "type hints and a docstring. Other keyword arguments are variables of the template. "
          "`add_generation_prompt=None` adds the opening of an assistant's turn unless the last message is the "
          "assistant's. `assistant=True` finds the ranges that training learns, with and without {% generation %} "
          "tags.\n\n"
          "Raises parlance.Error with the template's line and the input's path; also TypeError for an object that is "
          "not JSON.   Threads: any; releases the GIL.");
}

}  // namespace

void bind_templates(nb::module_& module) {
  bind_span(module);
  bind_loss(module);
  bind_rendering(module);
  bind_plain(module);
  bind_template(module);
}

}  // namespace parlance::python
