// Grammar, and how one is made. Begin reading at bind_grammars.
#include "grammars.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "gil.h"
#include "names.h"
#include "pickles.h"
#include "replies.h"

namespace parlance::python {

using namespace nb::literals;

GrammarSyntax grammar_syntax_named(const std::string& name) {
  const std::optional<GrammarSyntax> found = find_grammar_syntax(name);
  if (!found) raise_argument("the syntaxes are " + listed(grammar_syntax_names(), "and") + ", not " + quoted(name));
  return *found;
}

namespace {

/// A grammar, and what it was made of, for pickles: a format and options, or the schema of a value.
struct PyGrammar {
  struct Origins {
    std::optional<ReplyFormat> format{};
    GrammarOptions options{};
    std::string schema{};
    bool open = false, any_order = false;
  };

  Grammar grammar;
  std::shared_ptr<const Origins> origins;
};

std::string syntaxes_with_engines() {
  return listed(grammar_syntax_names(), "or", [](std::size_t i) {
    const std::string_view engine = engine_of(static_cast<GrammarSyntax>(i));
    return engine.empty() ? std::string() : " (" + std::string(engine) + ")";
  });
}

nb::str text_in(const PyGrammar& self, const std::string& syntax) {
  const Grammar& grammar = self.grammar;
  const GrammarSyntax wanted = grammar_syntax_named(syntax);
  const std::string warning = grammar.warning(wanted);
  const std::string advice = warning.empty() ? "" : warning + ": tokenizer=… tells which are";
  if (!advice.empty() && PyErr_WarnEx(PyExc_UserWarning, advice.c_str(), 1) != 0) throw nb::python_error();
  return text_to_python(grammar.to_text(wanted));
}

PyGrammar made_of(const ReplyFormat& format, GrammarOptions options) {
  Result<Grammar> made = [&] {
    const GilRelease release;
    return make_grammar(format, options);
  }();
  return {take(std::move(made)),
          std::make_shared<PyGrammar::Origins>(PyGrammar::Origins{.format = format, .options = std::move(options)})};
}

void take_control(GrammarOptions& options, nb::handle tokenizer) {
  if (!tokenizer.is_none()) options.control = tokenizer_in(tokenizer).tokenizer->facts().added;
}

/// What keyword arguments ask of a grammar. Of a request, what is not given stays as the request says.
struct GrammarWish {
  nb::handle tools;
  nb::handle response_format;
  std::vector<std::string> choices;
  nb::handle tool_choice;
  std::optional<bool> parallel;
  std::optional<std::uint32_t> max_calls;
  std::optional<std::string> prompt;
  bool reasoning = true;
  bool open = false;
  bool any_order = false;
  bool text_around_calls = false;
  nb::handle tokenizer;
};

/// As a request that has them by these names. A choice may be of some tools alone: of those of `options` where the
/// wish has none.
GrammarOptions options_as_request(const GrammarOptions& options, const GrammarWish& wish) {
  nb::dict members;
  if (PyUnicode_Check(wish.response_format.ptr()) != 0)
    throw nb::type_error("a response_format is a dict, as in a request: {'type': 'json_object'}");
  if (!wish.response_format.is_none()) members["response_format"] = wish.response_format;
  if (PyDict_Check(wish.tool_choice.ptr()) != 0) members["tool_choice"] = wish.tool_choice;
  const std::string tools = wish.tools.is_none() ? options.tools : json_of_tools(wish.tools);
  std::string request = "{\"tools\": " + (tools.empty() ? "null" : tools);
  for (const auto& [name, json] : json_members(members)) request += ", \"" + name + "\": " + json;
  return take(grammar_options(request + "}"));
}

/// A word, or what a request has. That of one tool is answered by one call, as a request's is.
void take_choice_wish(GrammarOptions& options, const GrammarWish& wish, GrammarOptions given) {
  if (wish.tool_choice.is_none()) return;
  if (PyUnicode_Check(wish.tool_choice.ptr()) != 0)
    return choose_tool(options, nb::cast<std::string>(wish.tool_choice));
  if (PyDict_Check(wish.tool_choice.ptr()) == 0) throw std::bad_cast();
  if (given.tools != "null") options.tools = std::move(given.tools);
  options.choice = given.choice;
  options.name = std::move(given.name);
  options.parallel = options.parallel && given.parallel;
}

/// The form of the answer, over the request's.
void take_response(GrammarOptions& options, const GrammarWish& wish, const GrammarOptions& given) {
  const bool has_format = !wish.response_format.is_none();
  if (has_format && !wish.choices.empty()) raise_argument("an answer has one form: response_format, or choices");
  if (has_format) options.response = given.response;
  if (wish.choices.empty()) return;
  options.response = {};
  options.response.kind = ResponseFormat::Kind::choice;
  options.response.choices = wish.choices;
}

void apply(GrammarOptions& options, const GrammarWish& wish) {
  GrammarOptions given = options_as_request(options, wish);
  if (!wish.tools.is_none()) options.tools = given.tools;
  take_response(options, wish, given);
  take_choice_wish(options, wish, std::move(given));
  if (wish.parallel) options.parallel = *wish.parallel;
  if (wish.max_calls) options.max_calls = *wish.max_calls;
  if (wish.prompt) options.prompt = wish.prompt;
  options.reasoning = wish.reasoning;
  options.open = wish.open;
  options.any_order = wish.any_order;
  options.text_around_calls = wish.text_around_calls;
  take_control(options, wish.tokenizer);
}

PyGrammar grammar_of_format(nb::handle format, const GrammarWish& wish) {
  GrammarOptions options;
  apply(options, wish);
  return made_of(format_of(format), std::move(options));
}

PyGrammar grammar_of_reply(nb::handle rendering, const GrammarWish& wish) {
  const Prompt& prompt = *nb::cast<PyRendering&>(rendering).prompt;
  const ReplyStart start = start_of(*nb::cast<PyRendering&>(rendering).prompt);
  GrammarOptions options = take(grammar_options(prompt.request, start));
  apply(options, wish);
  return made_of(start.format.source(), std::move(options));
}

PyGrammar grammar_of_schema(std::string json, bool open, bool any_order) {
  Grammar made = take(make_value_grammar(json, {.open = open, .any_order = any_order}));
  if (made.is_empty()) raise_argument("no value fits the schema");
  return {std::move(made), std::make_shared<PyGrammar::Origins>(
                               PyGrammar::Origins{.schema = std::move(json), .open = open, .any_order = any_order})};
}

PyGrammar schema_grammar(nb::handle schema, bool open, bool any_order) {
  return grammar_of_schema(json_of(schema), open, any_order);
}

// ---- pickles: what a grammar was made of

nb::tuple state_of_added(const AddedToken& one) {
  return nb::make_tuple(one.id, kept_bytes(one.text), one.special, one.lstrip, one.rstrip, one.normalized,
                        one.single_word, one.control);
}

AddedToken added_of_state(nb::handle state) {
  const auto flag = [&](int at) { return nb::cast<bool>(state[at]); };
  return {nb::cast<TokenId>(state[0]), kept_text(state[1]), flag(2), flag(3), flag(4), flag(5), flag(6), flag(7)};
}

nb::tuple state_of_response(const ResponseFormat& response) {
  return nb::make_tuple(static_cast<int>(response.kind), kept_bytes(response.schema), kept_bytes(response.pattern),
                        kept_texts(response.choices), kept_bytes(response.name));
}

ResponseFormat response_of_state(nb::handle state) {
  ResponseFormat response;
  response.kind = static_cast<ResponseFormat::Kind>(nb::cast<std::uint8_t>(state[0]));
  response.schema = kept_text(state[1]);
  response.pattern = kept_text(state[2]);
  response.choices = texts_of_kept(state[3]);
  response.name = kept_text(state[4]);
  return response;
}

nb::tuple state_of_options(const GrammarOptions& options) {
  nb::list control;
  for (const AddedToken& one : options.control) control.append(state_of_added(one));
  const nb::object prompt = options.prompt ? nb::object(kept_bytes(*options.prompt)) : nb::none();
  return nb::make_tuple(kept_bytes(options.tools), kept_bytes(options.tools_name), static_cast<int>(options.choice),
                        kept_bytes(options.name), options.parallel, options.max_calls,
                        state_of_response(options.response), options.reasoning, prompt, options.open, options.any_order,
                        options.text_around_calls, nb::tuple(control));
}

GrammarOptions options_of_state(nb::handle state) {
  GrammarOptions options;
  options.tools = kept_text(state[0]);
  options.tools_name = kept_text(state[1]);
  options.choice = static_cast<ToolChoice>(nb::cast<std::uint8_t>(state[2]));
  options.name = kept_text(state[3]);
  options.parallel = nb::cast<bool>(state[4]);
  options.max_calls = nb::cast<std::uint32_t>(state[5]);
  options.response = response_of_state(state[6]);
  options.reasoning = nb::cast<bool>(state[7]);
  if (const nb::object prompt = state[8]; !prompt.is_none()) options.prompt = kept_text(prompt);
  options.open = nb::cast<bool>(state[9]);
  options.any_order = nb::cast<bool>(state[10]);
  options.text_around_calls = nb::cast<bool>(state[11]);
  for (nb::handle one : nb::cast<nb::tuple>(state[12])) options.control.push_back(added_of_state(one));
  return options;
}

nb::tuple state_of_grammar(const PyGrammar& self) {
  const PyGrammar::Origins& origins = *self.origins;
  if (!origins.format) return nb::make_tuple(kept_bytes(origins.schema), origins.open, origins.any_order);
  return nb::make_tuple(kept_bytes(origins.format->to_json()), state_of_options(origins.options));
}

void set_state_of_grammar(PyGrammar& self, const nb::tuple& state) {
  const std::string json = kept_text(state[0]);
  PyGrammar made = nb::len(state) == 3 ? grammar_of_schema(json, nb::cast<bool>(state[1]), nb::cast<bool>(state[2]))
                                       : made_of(take(ReplyFormat::from_json(json)), options_of_state(state[1]));
  new (&self) PyGrammar(std::move(made));
}

nb::dict lazy_of(const PyGrammar& self) {
  const LazyGrammar lazy = take(self.grammar.to_lazy());
  constexpr int kWord = 1, kFullPattern = 3;  // llama.cpp's numbers of kinds of triggers
  nb::list triggers;
  for (const GrammarTrigger& trigger : lazy.triggers) {
    nb::dict one;
    one["type"] = trigger.kind == GrammarTrigger::Kind::word ? kWord : kFullPattern;
    one["value"] = text_to_python(trigger.value);
    triggers.append(one);
  }
  nb::dict made;
  made["grammar"] = text_to_python(lazy.grammar);
  made["grammar_lazy"] = true;
  made["grammar_triggers"] = triggers;
  made["preserved_tokens"] = lazy.preserved;
  return made;
}

void bind_note(nb::module_& module) {
  nb::class_<GrammarNote>(module, "GrammarNote", "A place where a grammar allows more than a schema, or less.")
      .def_ro("path", &GrammarNote::path, "In the tools: '[0].function.parameters.properties.when'; '' for the whole.")
      .def_ro("keyword", &GrammarNote::keyword, "'uniqueItems'; '' for the schema as a whole.")
      .def_ro("why", &GrammarNote::why)
      .def_ro("left_out", &GrammarNote::left_out,
              "True: the grammar excludes this tool, member, value, order or text. False: it allows more.")
      .def("__getstate__",
           [](const GrammarNote& n) {
             return nb::make_tuple(kept_bytes(n.path), kept_bytes(n.keyword), kept_bytes(n.why), n.left_out);
           })
      .def("__setstate__",
           [](GrammarNote& self, const nb::tuple& state) {
             const bool left_out = nb::cast<bool>(state[3]);
             new (&self) GrammarNote{kept_text(state[0]), kept_text(state[1]), kept_text(state[2]), left_out};
           })
      .def("__repr__", [](const GrammarNote& n) {
        return "<GrammarNote " + n.path + (n.keyword.empty() ? "" : " " + n.keyword) + ": " + n.why + ">";
      });
}

void bind_grammar(nb::module_& module) {
  nb::class_<PyGrammar>(
      module, "Grammar",
      "What a model may write, in the language of an engine. str() gives GBNF. A pickle has what it was "
      "made of.\n\nThreads: any.")
      .def("to_text", &text_in, "syntax"_a = name_of(GrammarSyntax::gbnf).data(),
           ("The grammar as " + syntaxes_with_engines() +
            ". A warning (UserWarning) says where a lark grammar was made without a tokenizer, so that its marks are "
            "text, "
            "which llguidance does not match with control tokens.\n\nRaises ValueError for another syntax.")
               .c_str())
      .def("__str__", [](const PyGrammar& g) { return text_to_python(g.grammar.to_text(GrammarSyntax::gbnf)); })
      .def("to_lazy", &lazy_of, nb::sig("def to_lazy(self) -> dict[str, typing.Any]"),
           "The grammar of calls only, which becomes active where a call begins, as members of a request to "
           "llama-server: `grammar`, `grammar_lazy`, `grammar_triggers`, `preserved_tokens`.\n\nRaises parlance.Error "
           "(also ValueError) if a call is required, if there are none, or if nothing marks where one begins.")
      .def_prop_ro(
          "notes", [](const PyGrammar& g) { return g.grammar.notes(); },
          "Where the grammar allows more than the schemas, or less.")
      .def(
          "accepts",
          [](const PyGrammar& g, nb::str text) {
            nb::object kept;
            const std::string_view bytes = utf8_of(text, kept);
            const GilRelease release;
            return g.grammar.accepts(bytes);
          },
          "text"_a, "Whether this whole reply follows the grammar. For tests: an engine samples far faster.")
      .def("__getstate__", &state_of_grammar)
      .def("__setstate__", &set_state_of_grammar)
      .def("__copy__", &itself, nb::sig("def __copy__(self) -> Grammar"))
      .def("__deepcopy__", &itself_deep, "memo"_a,
           nb::sig("def __deepcopy__(self, memo: dict[int, typing.Any]) -> Grammar"))
      .def("__repr__", [](const PyGrammar&) { return "<Grammar>"; });
}

/// The keyword arguments of both functions, as the end of their signatures.
#define PARLANCE_WISHES                                                                                              \
  "tools: collections.abc.Iterable[typing.Any] | None = None, tool_choice: str | dict[str, typing.Any] | None = "    \
  "None, response_format: "                                                                                          \
  "dict[str, typing.Any] | None = None, choices: collections.abc.Sequence[str] = (), parallel_tool_calls: bool | "   \
  "None = None, max_tool_calls: int | None = None, prompt: str | None = None, reasoning: bool = True, open: bool = " \
  "False, any_order: bool = False, text_around_calls: bool = False, tokenizer: typing.Any = None) -> Grammar"

/// A function of a format, or a method of a rendering.
template <PyGrammar (*Make)(nb::handle, const GrammarWish&), typename Holder, typename... More>
void def_grammar(Holder& holder, const char* signature, const std::string& doc, More... of_what) {
  holder.def(
      "grammar",
      [](nb::handle of, nb::handle tools, nb::handle tool_choice, nb::handle response_format,
         std::vector<std::string> choices, std::optional<bool> parallel, std::optional<std::uint32_t> max_calls,
         std::optional<std::string> prompt, bool reasoning, bool open, bool any_order, bool text_around_calls,
         nb::handle tokenizer) {
        return Make(of, {.tools = tools,
                         .response_format = response_format,
                         .choices = std::move(choices),
                         .tool_choice = tool_choice,
                         .parallel = parallel,
                         .max_calls = max_calls,
                         .prompt = std::move(prompt),
                         .reasoning = reasoning,
                         .open = open,
                         .any_order = any_order,
                         .text_around_calls = text_around_calls,
                         .tokenizer = tokenizer});
      },
      of_what..., nb::kw_only(), "tools"_a = nb::none(), "tool_choice"_a = nb::none(), "response_format"_a = nb::none(),
      "choices"_a = std::vector<std::string>(), "parallel_tool_calls"_a = nb::none(), "max_tool_calls"_a = nb::none(),
      "prompt"_a = nb::none(), "reasoning"_a = true, "open"_a = false, "any_order"_a = false,
      "text_around_calls"_a = false, "tokenizer"_a = nb::none(), nb::sig(signature), doc.c_str());
}

constexpr const char* kWishes =
    "* `tools`, `tool_choice` ('auto', 'required', 'none', a tool's name, or a dict of any API: {'type': 'function', "
    "'function': {'name': 'look'}}), `response_format`, `parallel_tool_calls` and `max_tool_calls` (0: any number, "
    "else at most 64) are those of a request.\n"
    "* `choices`: the answer is one of these texts.\n"
    "* `prompt`: the end of the prompt, from the assistant's turn on.\n"
    "* `reasoning=False`: the reply has none.\n"
    "* `open=True`: what schemas do not forbid is allowed. `any_order=True`: members come in any order.\n"
    "* `text_around_calls=True`: text may stand between calls and behind them.\n"
    "* `tokenizer`: which marks are control tokens; a Lark grammar needs it.\n\n"
    "Raises parlance.Error if the tools or the format cannot be read, or if no reply would be allowed; ValueError for "
    "both `response_format` and `choices`.";

void bind_making(nb::module_& module) {
  def_grammar<grammar_of_format>(
      module, "def grammar(format: ReplyFormat | str | dict[str, typing.Any], *, " PARLANCE_WISHES,
      "The grammar of the replies in a format; Rendering.grammar() makes one for a request.\n\n" + std::string(kWishes),
      "format"_a);
  module.def(
      "schema_grammar", &schema_grammar, "schema"_a, nb::kw_only(), "open"_a = false, "any_order"_a = false,
      nb::sig("def schema_grammar(schema: str | dict[str, typing.Any], *, open: bool = False, any_order: bool = "
              "False) -> Grammar"),
      "The grammar of the JSON texts that a JSON Schema allows, without a reply around them.\n\nRaises ValueError "
      "for a schema that no value fits, JSONDecodeError for a text that is not JSON.");
}

}  // namespace

void bind_grammar_of(nb::class_<PyRendering>& rendering) {
  def_grammar<grammar_of_reply>(
      rendering, "def grammar(self, *, " PARLANCE_WISHES,
      "The grammar of the replies that this request allows, by its tools, tool_choice and response_format. What an "
      "argument says goes before what the request says.\n\n" +
          std::string(kWishes));
}

#undef PARLANCE_WISHES

void bind_grammars(nb::module_& module) {
  module.def(
      "_check_grammar_syntax", [](const std::string& name) { grammar_syntax_named(name); }, "name"_a);
  bind_note(module);
  bind_grammar(module);
  bind_making(module);
}

}  // namespace parlance::python
