// Template: how one is opened, and what it renders. Begin reading at bind_templates.
#include "templates.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <typeinfo>

#include "errors.h"
#include "gil.h"
#include "names.h"
#include "parlance/source.h"
#include "pickles.h"
#include "render_limits.h"
#include "replies.h"
#include "tokenizers.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

/// The keyword arguments that every factory takes, as the end of their signatures.
#define PARLANCE_READING                                                                                              \
  "adapt: bool = True, as_is: bool = False, as_transformers: bool | str | None = None, allow_changes: bool = False, " \
  "passes: str | "                                                                                                    \
  "collections.abc.Sequence[str] = (), skip_passes: str | collections.abc.Sequence[str] = (), " PARLANCE_LIMIT_WORDS  \
  ") -> Template"

void follow_transformers(RequestOptions& options, nb::handle asked) {
  if (asked.is_none() || asked.is(nb::handle(Py_False))) return;
  options.read.as_transformers = true;
  if (PyUnicode_Check(asked.ptr()) == 0) return;
  const auto name = nb::cast<std::string>(asked);
  const TransformersRelease* const release = find_transformers(name);
  if (release == nullptr) {
    const std::span<const TransformersRelease> known = transformers_releases();
    raise_argument("parlance does not follow transformers " + name,
                   "the releases that it follows are " + std::string(known.front().name) + " to " +
                       std::string(known.back().name) + ": `parlance list releases` has them");
  }
  options.read.transformers = options.compile.transformers = release->version;
}

/// One name, or several.
std::vector<std::string> names_in(nb::handle given) {
  if (PyUnicode_Check(given.ptr()) != 0) return {nb::cast<std::string>(given)};
  if (!nb::hasattr(given, "__iter__")) throw std::bad_cast();
  std::vector<std::string> names;
  PythonItems items(given);
  for (nb::object name = items.next(); name.is_valid(); name = items.next())
    names.push_back(nb::cast<std::string>(name));
  return names;
}

/// The error for a word that names no pass has all names in its hint.
void check_pass(const Result<void>& result, std::string_view words) {
  if (result || find_pass(words.substr(0, words.find(':')))) return check(result);
  std::string hint = result.error().hint();
  hint += (hint.empty() ? "" : "; ") + std::string("parlance.passes() has them:");
  for (const NormalisePass& pass : normalise_passes())
    hint += (&pass == normalise_passes().data() ? " " : ", ") + std::string(pass.name);
  raise(result.error().hint(std::move(hint)));
}

Syntax syntax_of(nb::handle name) {
  const std::optional<Syntax> found =
      PyUnicode_Check(name.ptr()) != 0 ? syntax_named(nb::cast<std::string>(name)) : std::nullopt;
  if (!found) raise_argument("syntax is 'jinja' or 'go'");
  return *found;
}

void set_option(RequestOptions& options, const std::string& name, nb::handle value) {
  if (name == "adapt") {
    options.adapt = nb::cast<bool>(value);
  } else if (name == "as_is") {
    options.read.normalise = !nb::cast<bool>(value);
  } else if (name == "allow_changes") {
    options.compile.allow_changes = nb::cast<bool>(value);
  } else if (name == "as_transformers") {
    follow_transformers(options, value);
  } else if (name == "_of_batch") {  // for apply_chat_template, which looks by itself whether a single chat is empty
    options.read.of_batch = nb::cast<bool>(value);
  } else if (name == "passes") {
    for (const std::string& words : names_in(value)) check_pass(options.read.passes.run(words), words);
  } else if (name == "skip_passes") {
    for (const std::string& pass : names_in(value)) check_pass(options.read.passes.skip(pass), pass);
  } else if (name == "syntax") {
    if (!value.is_none()) options.syntax = syntax_of(value);
  } else if (!set_limit(options.limits, name, value)) {
    throw std::bad_cast();  // no argument of the signature, which calls.cpp goes by
  }
}

RequestOptions reading_of(const nb::kwargs& given) {
  RequestOptions options;
  for (const auto& [name, value] : given) set_option(options, nb::cast<std::string>(name), value);
  options.compile.limits = options.limits;
  if (options.read.normalise) return options;
  if (options.read.as_transformers) raise_argument("as_is and as_transformers exclude each other");
  if (given.contains("passes") && !names_in(given["passes"]).empty())
    raise_argument("passes change the request, which as_is forbids");
  options.read.transformers = options.compile.transformers = kPlainTransformers;  // Jinja2 as it is, too
  return options;
}

SpecialToken special_token(nb::handle name, nb::handle text) {
  return {nb::cast<std::string>(name), nb::cast<std::string>(text)};
}

/// Variables such as bos_token, from a dict or None.
std::vector<SpecialToken> special_tokens_in(nb::handle given) {
  std::vector<SpecialToken> tokens;
  if (given.is_none()) return tokens;
  for (const auto& [name, text] : held_members(nb::cast<nb::dict>(given))) tokens.push_back(special_token(name, text));
  return tokens;
}

/// Keyword arguments as a pickle keeps them, whatever becomes of the lists that were given.
nb::dict kept_reading(const nb::kwargs& given) {
  nb::dict kept;
  for (const auto& [name, value] : given) {
    const auto word = nb::cast<std::string>(name);
    kept[name] = word == "passes" || word == "skip_passes" ? nb::tuple(nb::cast(names_in(value))) : nb::borrow(value);
  }
  return kept;
}

PyTemplate open_source(ModelSource source, RequestOptions options, nb::dict reading) {
  auto engine = std::make_shared<Engine>(RequestReader(std::move(source), std::move(options)));
  const Result<Template>* compiled = nullptr;
  {
    const GilRelease release;
    compiled = &engine->reader.chat_template(false);
  }
  if (!*compiled) raise(compiled->error());
  return {std::move(engine), std::move(reading)};
}

ModelStores stores() {
  return model_stores([](const char* name) -> const char* { return std::getenv(name); });
}

PyTemplate from_pretrained(nb::handle given_path, std::optional<std::string> name, const nb::kwargs& reading) {
  const std::string path = path_of(given_path);
  RequestOptions options = reading_of(reading);
  options.template_name = std::move(name);
  return open_source(take(open_model(path, stores())), std::move(options), kept_reading(reading));
}

/// A model of Ollama's, by its name there.
PyTemplate from_ollama(const std::string& name, const nb::kwargs& reading) {
  const ModelStores all = stores();
  ModelStores only;
  only.ollama = all.ollama;
  only.home = all.home;
  return open_source(take(open_model(name, only)), reading_of(reading), kept_reading(reading));
}

PyTemplate from_file(nb::handle given_path, nb::handle special_tokens, const nb::kwargs& reading) {
  const std::string path = path_of(given_path);
  ModelSource source;
  source.path = path;
  source.templates.push_back(take(open_template_file(path)));
  source.special_tokens = special_tokens_in(special_tokens);
  return open_source(std::move(source), reading_of(reading), kept_reading(reading));
}

PyTemplate from_string(nb::str text, nb::handle special_tokens, nb::handle syntax, const nb::kwargs& reading) {
  nb::object kept;
  ModelSource source;
  source.templates.push_back({"default", std::string(utf8_of(text, kept)), "<template>", syntax_of(syntax)});
  source.special_tokens = special_tokens_in(special_tokens);
  return open_source(std::move(source), reading_of(reading), kept_reading(reading));
}

/// Of a tokenizer of transformers, or of the one that a processor has.
PyTemplate from_tokenizer(nb::handle tokenizer, std::optional<std::string> name, const nb::kwargs& reading) {
  const nb::object inner = nb::getattr(tokenizer, "tokenizer", nb::none());
  nb::object given = nb::getattr(tokenizer, "chat_template", nb::none());
  if (given.is_none()) given = nb::getattr(inner, "chat_template", nb::none());
  ModelSource source;
  const auto add = [&source](nb::handle named, nb::handle text) {
    source.templates.push_back(
        {nb::cast<std::string>(named), nb::cast<std::string>(text), "<template>", Syntax::jinja});
  };
  if (nb::isinstance<nb::dict>(given)) {
    for (const auto& [named, text] : held_members(nb::cast<nb::dict>(given))) add(named, text);
  } else if (!given.is_none()) {
    add(nb::str("default"), given);
  }
  if (source.templates.empty())
    raise_argument("the tokenizer has no chat_template: Template.from_pretrained() opens a model's folder");
  nb::object tokens = nb::getattr(tokenizer, "special_tokens_map", nb::none());
  if (tokens.is_none()) tokens = nb::getattr(inner, "special_tokens_map", nb::dict());
  for (const auto& [named, text] : held_members(nb::cast<nb::dict>(tokens)))  // its lists are no variables of a request
    if (nb::isinstance<nb::str>(text)) source.special_tokens.push_back(special_token(named, text));
  RequestOptions options = reading_of(reading);
  options.template_name = std::move(name);
  return open_source(std::move(source), std::move(options), kept_reading(reading));
}

PyTemplate builtin(const std::string& name, const nb::kwargs& reading) {
  RequestOptions options = reading_of(reading);
  ModelSource source = take(open_format(name));
  options.reply_format = take(ReplyFormat::from_json(find_format(name)->reply));
  return open_source(std::move(source), std::move(options), kept_reading(reading));
}

// ---- pickles: what was compiled, so that no file has to be there, and how requests are read

nb::tuple reduced_template(const PyTemplate& self) {
  const RequestOptions& options = self.engine->reader.options();
  nb::object name = nb::none(), format = nb::none();
  if (options.template_name) name = kept_bytes(*options.template_name);
  if (options.reply_format) format = kept_bytes(options.reply_format->to_json());
  return nb::make_tuple(
      imported("parlance._core", "_template_again"),
      nb::make_tuple(state_of_source(self.engine->reader.model()), name, format, nb::dict(self.reading)));
}

PyTemplate template_again(const nb::tuple& source, nb::handle name, nb::handle format, const nb::dict& reading) {
  const auto given = nb::borrow<nb::kwargs>(reading);
  RequestOptions options = reading_of(given);
  if (!name.is_none()) options.template_name = kept_text(name);
  if (!format.is_none()) options.reply_format = take(ReplyFormat::from_json(kept_text(format)));
  return open_source(source_of_state(source), std::move(options), kept_reading(given));
}

/// As transformers gives a conversation to a template: objects that are no JSON are placeholders.
constexpr TakeOptions kPlain{.tuples = true, .placeholders = true};

PyRendering render_plain(nb::handle self, nb::handle messages, nb::handle tools, nb::handle documents,
                         nb::dict variables, bool assistant, bool spans) {
  return {render_prompt(nb::cast<const PyTemplate&>(self).engine, {.messages = messages,
                                                                   .tools = tools,
                                                                   .documents = documents,
                                                                   .assistant = assistant,
                                                                   .spans = spans,
                                                                   .variables = variables,
                                                                   .take = kPlain}),
          nb::borrow(self)};
}

nb::str render_plain_text(nb::handle self, nb::handle messages, nb::handle tools, nb::handle documents,
                          nb::dict variables) {
  return render_text(nb::cast<const PyTemplate&>(self).engine, {.messages = messages,
                                                                .tools = tools,
                                                                .documents = documents,
                                                                .spans = false,
                                                                .variables = variables,
                                                                .take = kPlain});
}

/// How replies are written under some variables, where the prompt is not known.
PyReplyFormat reply_format_of(const PyTemplate& self, nb::kwargs variables) {
  DocumentBuilder builder;
  ObjectTaker taker(builder, {});
  taker.take(variables);
  Document document;
  check(document.build(builder));
  Result<ReplyStart> start = [&] {
    const GilRelease release;
    return self.engine->reader.reply(document.root());
  }();
  return {take(std::move(start)).format};
}

/// (id, text, sources) of the tokens that end a reply.
nb::list stop_tokens_of(const PyTemplate& self, nb::handle given) {
  const PyTokenizer tokenizer = tokenizer_in(given);
  Result<std::vector<StopToken>> found = [&]() -> Result<std::vector<StopToken>> {
    const GilRelease release;
    RenderOptions options;
    options.limits = self.engine->limits();
    return self.engine->reader.stop_tokens(*tokenizer.tokenizer, options);
  }();
  nb::list all;
  for (const StopToken& token : take(std::move(found)))
    all.append(nb::make_tuple(token.id < 0 ? nb::object(nb::none()) : nb::object(nb::int_(token.id)),
                              text_to_python(token.text), token.sources));
  return all;
}

nb::dict token_to_dict(const SpecialToken& token) {
  nb::dict made;
  made["name"] = text_to_python(token.name);
  made["text"] = text_to_python(token.text);
  if (token.id >= 0) made["id"] = token.id;
  return made;
}

/// A list of dicts with two members each.
template <typename Item>
nb::list pairs_to_list(const std::vector<Item>& items, const char* first, std::string Item::*one, const char* second,
                       std::string Item::*two) {
  nb::list all;
  for (const Item& item : items) {
    nb::dict made;
    made[first] = text_to_python(item.*one);
    made[second] = text_to_python(item.*two);
    all.append(made);
  }
  return all;
}

nb::list texts_to_list(const auto& texts) {
  nb::list all;
  for (const auto& text : texts) all.append(text_to_python(text));
  return all;
}

nb::dict named_template_to_dict(const NamedTemplate& chosen) {
  const nb::bytes bytes(chosen.text.data(), chosen.text.size());
  nb::dict made;
  made["name"] = text_to_python(chosen.name);
  made["syntax"] = str_of(syntax_name(chosen.syntax));
  made["origin"] = text_to_python(chosen.origin);
  made["sha256"] = call_method(call_python(imported("hashlib", "sha256"), bytes), "hexdigest");
  made["bytes"] = chosen.text.size();
  made["text"] = text_to_python(chosen.text);
  return made;
}

/// Of the template that requests without tools get.
nb::dict template_to_dict(const PyTemplate& self) {
  const ModelSource& model = self.engine->reader.model();
  nb::dict made;
  made["path"] = text_to_python(model.path);
  made.update(named_template_to_dict(*take(model.choose(self.engine->reader.options().template_name, false))));
  nb::list names, tokens;
  for (const NamedTemplate& one : model.templates) names.append(text_to_python(one.name));
  for (const SpecialToken& token : model.special_tokens) tokens.append(token_to_dict(token));
  made["names"] = names;
  made["special_tokens"] = tokens;
  if (model.add_bos_token) made["add_bos_token"] = *model.add_bos_token;
  if (model.add_eos_token) made["add_eos_token"] = *model.add_eos_token;
  made["system"] = text_to_python(model.system);
  made["messages"] = pairs_to_list(model.messages, "role", &SourceMessage::role, "content", &SourceMessage::content);
  made["parameters"] =
      pairs_to_list(model.parameters, "name", &SourceParameter::name, "value", &SourceParameter::value);
  made["stop"] = texts_to_list(model.stop());
  made["notes"] = texts_to_list(model.notes);
  return made;
}

nb::list all_models() {
  nb::list all;
  for (const StoredModel& model : stored_models(stores())) {
    nb::dict one;
    one["name"] = text_to_python(model.name);
    one["in"] = text_to_python(model.store);
    all.append(one);
  }
  return all;
}

std::string name_of_template(const PyTemplate& self) {
  const Result<Template>& compiled = self.engine->reader.chat_template(false);
  return compiled ? std::string(compiled->name()) : std::string();
}

using TemplateClass = nb::class_<PyTemplate>;

/// Those that open a model.
void bind_openers(TemplateClass& template_class) {
  template_class
      .def_static(
          "from_pretrained", &from_pretrained, "path_or_name"_a, nb::kw_only(), "name"_a = nb::none(), "reading"_a,
          nb::sig("def from_pretrained(path_or_name: str | os.PathLike[str], *, name: str | None = "
                  "None, syntax: str | None = None, " PARLANCE_READING),
          "Opens a model: a folder, a GGUF file, a Modelfile, a name in Hugging Face's cache or in Ollama's "
          "folder. Nothing is downloaded. `name` chooses one of several templates; `syntax`, 'jinja' or 'go', says "
          "which language it is in, whatever the model says.\n\n"
          "All of these take: `adapt=False`, not to adapt requests to the template; `as_is=True`, to give the template "
          "the request's members as they are, without passes and without add_generation_prompt; `as_transformers`, "
          "True or a "
          "release, to read them as apply_chat_template does; `allow_changes`, that the template may change lists "
          "that it made; `passes` and `skip_passes`, in the words of passes(): passes=['text-only']; and the limits of "
          "each render, and of the experiments with the template: `max_steps`, `max_output` (bytes of the prompt), "
          "`max_memory` (bytes of all that a render makes) and `max_depth` (of nesting, at most 1000).\n\n"
          "Raises parlance.Error (also OSError, JSONDecodeError or ValueError) if there is no such model, it has no "
          "template, or a pass is not known. A render that reaches a limit raises parlance.Error with the code "
          "'limit_steps' (also TimeoutError), 'limit_output' or 'limit_memory' (also MemoryError), or 'limit_depth' "
          "(also RecursionError).")
      .def_static("from_gguf", &from_pretrained, "path"_a, nb::kw_only(), "name"_a = nb::none(), "reading"_a,
                  nb::sig("def from_gguf(path: str | os.PathLike[str], *, name: str | None = None, syntax: str | None "
                          "= None, " PARLANCE_READING),
                  "Opens the template in a GGUF file's header.")
      .def_static("from_ollama", &from_ollama, "name"_a, "reading"_a,
                  nb::sig("def from_ollama(name: str, *, syntax: str | None = None, " PARLANCE_READING),
                  "Opens a model of Ollama's by its name: 'llama3.1:8b'. Nothing is downloaded.");
}

/// Those that take a template alone.
void bind_compilers(TemplateClass& template_class) {
  template_class
      .def_static("from_tokenizer", &from_tokenizer, "tokenizer"_a, nb::kw_only(), "name"_a = nb::none(), "reading"_a,
                  nb::sig("def from_tokenizer(tokenizer: typing.Any, *, name: str | None = None, " PARLANCE_READING),
                  "Compiles the `chat_template` of a tokenizer (or processor) of transformers, with its "
                  "`special_tokens_map` as variables such as bos_token. Where it has several, requests with tools take "
                  "the one named 'tool_use', others 'default', or all the one that is `name`d. Later changes of the "
                  "tokenizer change nothing.\n\nRaises ValueError if it has no template; parlance.Error (also "
                  "jinja2.TemplateSyntaxError) with line and column.")
      .def_static(
          "from_file", &from_file, "path"_a, nb::kw_only(), "special_tokens"_a = nb::none(), "reading"_a,
          nb::sig("def from_file(path: str | os.PathLike[str], *, special_tokens: dict[str, str] | None = None, "
                  "syntax: str | None = None, " PARLANCE_READING),
          "Compiles a template's file: Go's if its name ends in .gotmpl or .tmpl, else Jinja, or as `syntax` "
          "says: 'jinja' or 'go'. `special_tokens` are variables such as bos_token: a file has none.\n\nRaises "
          "parlance.Error (also OSError, or jinja2.TemplateSyntaxError with line and column).")
      .def_static(
          "from_string", &from_string, "text"_a, nb::kw_only(), "special_tokens"_a = nb::none(), "syntax"_a = "jinja",
          "reading"_a,
          nb::sig("def from_string(text: str, *, special_tokens: dict[str, str] | None = None, syntax: str = "
                  "'jinja', " PARLANCE_READING),
          "Compiles a template's text. `special_tokens` are variables such as bos_token; `syntax` is 'jinja' or "
          "'go'.\n\nRaises parlance.Error (also jinja2.TemplateSyntaxError) with line and column.")
      .def_static("builtin", &builtin, "name"_a, "reading"_a, nb::sig("def builtin(name: str, *, " PARLANCE_READING),
                  "One of parlance's own formats: 'chatml', 'rnj-1', …");
}

#undef PARLANCE_READING

/// All but rendering.
void bind_facts_of_template(TemplateClass& template_class) {
  template_class
      .def("reply_format", &reply_format_of, "variables"_a,
           nb::sig("def reply_format(self, **variables: typing.Any) -> ReplyFormat"),
           "How the model writes its replies, found by experiments with the template under these variables.")
      .def("stop_tokens", &stop_tokens_of, "tokenizer"_a.none(),
           nb::sig("def stop_tokens(self, tokenizer: typing.Any) -> list[tuple[int | None, str, list[str]]]"),
           "(id, text, sources) of each token that ends a reply: what the template writes behind an assistant's turn, "
           "and "
           "what the tokenizer's files declare. The id is None where the tokenizer has no such token.")
      .def("_render_plain", &render_plain, "messages"_a, "tools"_a.none(), "documents"_a.none(), "variables"_a,
           nb::kw_only(), "assistant"_a = false, "spans"_a = false)
      .def("_render_plain_text", &render_plain_text, "messages"_a, "tools"_a.none(), "documents"_a.none(),
           "variables"_a)
      .def("__repr__", [](const PyTemplate& self) { return "<Template " + name_of_template(self) + ">"; })
      .def("__reduce__", &reduced_template, nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"),
           "A pickle has the template's text and all that came with it, and compiles it again.")
      .def("__copy__", &itself, nb::sig("def __copy__(self) -> Template"))
      .def("__deepcopy__", &itself_deep, "memo"_a,
           nb::sig("def __deepcopy__(self, memo: dict[int, typing.Any]) -> Template"))
      .def_prop_ro(
          "text",
          [](const PyTemplate& self) {
            const RequestReader& reader = self.engine->reader;
            return text_to_python((*take(reader.model().choose(reader.options().template_name, false))).text);
          },
          "The template's text: of several, that for requests without tools.")
      .def(
          "to_dict", &template_to_dict, nb::sig("def to_dict(self) -> dict[str, typing.Any]"),
          "What `parlance template --json` prints: the template's `name`, `syntax`, `text` and `sha256`, and what came "
          "along with it, such as the model's `special_tokens`, its `parameters` and `stop` texts.")
      .def_prop_ro(
          "limits", [](const PyTemplate& self) { return limits_to_dict(self.engine->limits()); },
          nb::sig("def limits(self) -> dict[str, int]"),
          "The limits of each render, by the words in which a factory takes them: max_steps, max_output, max_memory "
          "(bytes) and max_depth.")
      .def_prop_ro(
          "_engine", [](const PyTemplate& self) { return self.engine; }, nb::sig("def _engine(self) -> _Engine"));
}

PyRendering render_request(nb::handle self, nb::handle messages, nb::handle tools, nb::handle documents,
                           std::optional<bool> add_generation_prompt, std::optional<bool> continue_final_message,
                           nb::handle now, bool assistant, nb::kwargs variables) {
  return {render_prompt(nb::cast<const PyTemplate&>(self).engine, {.messages = messages,
                                                                   .tools = tools,
                                                                   .documents = documents,
                                                                   .add_generation_prompt = add_generation_prompt,
                                                                   .continue_final_message = continue_final_message,
                                                                   .now = now,
                                                                   .assistant = assistant,
                                                                   .variables = variables,
                                                                   .take = {}}),
          nb::borrow(self)};
}

void bind_render(TemplateClass& template_class) {
  template_class.def(
      "render", &render_request, "messages"_a.none(), "tools"_a = nb::none(), "documents"_a = nb::none(), nb::kw_only(),
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

nb::list all_passes() {
  nb::list all;
  for (const NormalisePass& pass : normalise_passes()) {
    nb::dict one;
    one["name"] = str_of(pass.name);
    one["takes"] = str_of(name_of(pass.takes));
    one["runs"] = str_of(pass.by_default ? "always" : "if asked or needed");
    one["sentence"] = str_of(pass.sentence);
    all.append(one);
  }
  return all;
}

void bind_lists(nb::module_& module) {
  module.def("passes", &all_passes, nb::sig("def passes() -> list[dict[str, str]]"),
             "The passes that adapt a request to a template, in the order in which they run, as `parlance list passes "
             "--json` shows them: `name`, `sentence` (what it does), `runs` ('always', or 'if asked or needed') and "
             "`takes` (what stands behind its name and a colon: 'ROLES', 'NAME', 'TYPE', 'NAMES', 'SETTINGS', or '' "
             "for nothing). `passes=` and `skip_passes=` of a Template's factories take the names.");
  module.def("models", &all_models, nb::sig("def models() -> list[dict[str, str]]"),
             "The models that Template.from_pretrained() finds by `name`, and the folder that each is `in`: of Hugging "
             "Face's cache and of Ollama's store, where the environment says that they are.");
}

}  // namespace

void bind_templates(nb::module_& module) {
  nb::class_<Engine>(module, "_Engine");
  TemplateClass template_class(module, "Template", nb::is_weak_referenceable(),
                               "A chat template, compiled once and rendered by any number of threads. copy.copy() and "
                               "copy.deepcopy() give itself; a pickle has its text.");
  bind_openers(template_class);
  bind_compilers(template_class);
  bind_facts_of_template(template_class);
  bind_render(template_class);
  bind_lists(module);
  module.def("_template_again", &template_again, "source"_a, "name"_a.none(), "format"_a.none(), "reading"_a,
             nb::sig("def _template_again(source: tuple[typing.Any, ...], name: bytes | None, format: bytes | None, "
                     "reading: dict[str, typing.Any]) -> Template"));
}

}  // namespace parlance::python
