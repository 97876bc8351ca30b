// Grammar, and how one is made. Begin reading at bind_grammars.
#include "grammars.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "names.h"
#include "replies.h"

namespace parlance::python {

using namespace nb::literals;

namespace {

GrammarSyntax syntax_named(const std::string& name) {
  const std::optional<GrammarSyntax> found = find_grammar_syntax(name);
  if (!found)
    throw nb::value_error(
        ("the syntaxes are " + listed(grammar_syntax_names(), "and") + ", not " + quoted(name)).c_str());
  return *found;
}

std::string syntaxes_with_engines() {
  return listed(grammar_syntax_names(), "or", [](std::size_t i) {
    const std::string_view engine = engine_of(static_cast<GrammarSyntax>(i));
    return engine.empty() ? std::string() : " (" + std::string(engine) + ")";
  });
}

nb::str text_in(const Grammar& grammar, const std::string& syntax) {
  const GrammarSyntax wanted = syntax_named(syntax);
  const std::string warning = grammar.warning(wanted);
  const std::string advice = warning.empty() ? "" : warning + ": tokenizer=… tells which are";
  if (!advice.empty() && PyErr_WarnEx(PyExc_UserWarning, advice.c_str(), 1) != 0) throw nb::python_error();
  return text_to_python(grammar.to_text(wanted));
}

Grammar made_of(const ReplyFormat& format, const GrammarOptions& options) {
  Result<Grammar> made = [&] {
    const nb::gil_scoped_release release;
    return make_grammar(format, options);
  }();
  return take(std::move(made));
}

void take_control(GrammarOptions& options, nb::handle tokenizer) {
  if (!tokenizer.is_none()) options.control = tokenizer_in(tokenizer).tokenizer->facts().added;
}

/// Tools, choice and response format by the names that requests give them.
GrammarOptions grammar_options_of(nb::handle tools, nb::handle response_format) {
  std::string request = "{";
  if (!tools.is_none()) request += "\"tools\": " + json_of_tools(tools);
  if (PyUnicode_Check(response_format.ptr()) != 0)
    throw nb::type_error("a response_format is a dict, as in a request: {'type': 'json_object'}");
  if (!response_format.is_none())
    request += (request.size() > 1 ? ", " : "") + ("\"response_format\": " + json_of(response_format));
  return take(grammar_options(request + "}"));
}

Grammar grammar(nb::handle format, nb::handle tools, std::optional<std::string> tool_choice, nb::handle response_format,
                bool parallel_tool_calls, std::uint32_t max_tool_calls, std::optional<std::string> prompt,
                bool reasoning, bool open, bool any_order, bool text_around_calls, nb::handle tokenizer) {
  GrammarOptions options = grammar_options_of(tools, response_format);
  if (tool_choice) choose_tool(options, *tool_choice);
  options.parallel = parallel_tool_calls;
  options.max_calls = max_tool_calls;
  options.prompt = std::move(prompt);
  options.reasoning = reasoning;
  options.open = open;
  options.any_order = any_order;
  options.text_around_calls = text_around_calls;
  take_control(options, tokenizer);
  return made_of(format_of(format), options);
}

Grammar schema_grammar(nb::handle schema, bool open, bool any_order) {
  const std::string json = json_of(schema);
  Grammar made = take(make_value_grammar(json, {.open = open, .any_order = any_order}));
  if (made.is_empty()) throw nb::value_error("no value fits the schema");
  return made;
}

nb::dict lazy_of(const Grammar& grammar) {
  const LazyGrammar lazy = take(grammar.to_lazy());
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

}  // namespace

Grammar grammar_of_reply(const PyRendering& rendering, std::optional<std::string> tool_choice, nb::handle tokenizer) {
  const ReplyStart start = start_of(*rendering.prompt);
  GrammarOptions options = take(grammar_options(rendering.prompt->request, start));
  if (tool_choice) choose_tool(options, *tool_choice);
  take_control(options, tokenizer);
  return made_of(start.format.source(), options);
}

namespace {

void bind_note(nb::module_& module) {
  nb::class_<GrammarNote>(module, "GrammarNote", "A place where a grammar allows more than a schema, or less.")
      .def_ro("path", &GrammarNote::path, "In the tools: '[0].function.parameters.properties.when'; '' for the whole.")
      .def_ro("keyword", &GrammarNote::keyword, "'uniqueItems'; '' for the schema as a whole.")
      .def_ro("why", &GrammarNote::why)
      .def_ro("left_out", &GrammarNote::left_out,
              "True: the grammar excludes this tool, member, value, order or text. False: it allows more.")
      .def("__repr__", [](const GrammarNote& n) {
        return "<GrammarNote " + n.path + (n.keyword.empty() ? "" : " " + n.keyword) + ": " + n.why + ">";
      });
}

void bind_grammar(nb::module_& module) {
  nb::class_<Grammar>(module, "Grammar",
                      "What a model may write, in the language of an engine. str() gives GBNF.\n\nThreads: any.")
      .def("to_text", &text_in, "syntax"_a = name_of(GrammarSyntax::gbnf).data(),
           ("The grammar as " + syntaxes_with_engines() +
            ". A warning (UserWarning) says where a lark grammar was made without a tokenizer, so that its marks are "
            "text, "
            "which llguidance does not match with control tokens.\n\nRaises ValueError for another syntax.")
               .c_str())
      .def("__str__", [](const Grammar& g) { return text_to_python(g.to_text(GrammarSyntax::gbnf)); })
      .def("to_lazy", &lazy_of, nb::sig("def to_lazy(self) -> dict[str, typing.Any]"),
           "The grammar of calls only, which becomes active where a call begins, as members of a request to "
           "llama-server: `grammar`, `grammar_lazy`, `grammar_triggers`, `preserved_tokens`.\n\nRaises parlance.Error "
           "(also ValueError) if a call is required, if there are none, or if nothing marks where one begins.")
      .def_prop_ro(
          "notes", [](const Grammar& g) { return g.notes(); },
          "Where the grammar allows more than the schemas, or less.")
      .def(
          "accepts",
          [](const Grammar& g, nb::str text) {
            nb::object kept;
            const std::string_view bytes = utf8_of(text, kept);
            const nb::gil_scoped_release release;
            return g.accepts(bytes);
          },
          "text"_a, "Whether this whole reply follows the grammar. For tests: an engine samples far faster.")
      .def("__repr__", [](const Grammar&) { return "<Grammar>"; });
}

void bind_making(nb::module_& module) {
  module.def(
      "grammar", &grammar, "format"_a, nb::kw_only(), "tools"_a = nb::none(), "tool_choice"_a = nb::none(),
      "response_format"_a = nb::none(), "parallel_tool_calls"_a = true, "max_tool_calls"_a = 0, "prompt"_a = nb::none(),
      "reasoning"_a = true, "open"_a = false, "any_order"_a = false, "text_around_calls"_a = false,
      "tokenizer"_a = nb::none(),
      nb::sig("def grammar(format: ReplyFormat | str | dict[str, typing.Any], *, tools: "
              "collections.abc.Iterable[typing.Any] | None = None, tool_choice: str | None = None, response_format: "
              "dict[str, typing.Any] | None = None, parallel_tool_calls: bool = True, max_tool_calls: int = 0, prompt: "
              "str | None = None, reasoning: bool = True, open: bool = False, any_order: bool = False, "
              "text_around_calls: bool = False, tokenizer: typing.Any = None) -> Grammar"),
      "The grammar of the replies in a format; Rendering.grammar() makes one for a request.\n\n"
      "* `tools`, `tool_choice` ('auto', 'required', 'none' or a tool's name), `response_format`, "
      "`parallel_tool_calls` and `max_tool_calls` (0: any number) are those of a request.\n"
      "* `prompt`: the end of the prompt, from the assistant's turn on.\n"
      "* `reasoning=False`: the reply has none.\n"
      "* `open=True`: what schemas do not forbid is allowed. `any_order=True`: members come in any order.\n"
      "* `text_around_calls=True`: text may stand between calls and behind them.\n"
      "* `tokenizer`: which marks are control tokens; a Lark grammar needs it.\n\n"
      "Raises parlance.Error if the tools or the format cannot be read, or if no reply would be allowed.");
  module.def(
      "schema_grammar", &schema_grammar, "schema"_a, nb::kw_only(), "open"_a = false, "any_order"_a = false,
      nb::sig("def schema_grammar(schema: str | dict[str, typing.Any], *, open: bool = False, any_order: bool = "
              "False) -> Grammar"),
      "The grammar of the JSON texts that a JSON Schema allows, without a reply around them.\n\nRaises ValueError "
      "for a schema that no value fits, JSONDecodeError for a text that is not JSON.");
}

}  // namespace

void bind_grammars(nb::module_& module) {
  bind_note(module);
  bind_grammar(module);
  bind_making(module);
}

}  // namespace parlance::python
