// parlance grammar: what constrains a model to well-formed replies, in the language of an engine. Begin reading at
// run_grammar.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/numbers.h"
#include "cli/options/options.h"
#include "cli/options/reply_choice.h"
#include "cli/report.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/request.h"
#include "parlance/source.h"

namespace parlance::cli {
namespace {

struct GrammarCommand {
  ReplyWish wish;  ///< how replies are written, and the tools
  std::string syntax;
  std::string request;
  std::string schema;
  std::string regex;
  std::vector<std::string> choices;
  bool json_object = false;
  std::uint32_t max_calls = 0;
  bool lazy = false;
  std::string tool_choice;
  std::string prompt;
  std::string tokenizer;
  bool has_prompt = false;
  bool no_parallel = false;
  bool no_reasoning = false;
  bool open = false;
  bool any_order = false;
  bool text_around_calls = false;
  bool notes = false;
};

Error input_error(ErrorCode code, std::string message, const std::string& path, std::string hint) {
  return Error(code, std::move(message)).input(path).hint(std::move(hint));
}

Error no_request(const std::string& path) {
  return input_error(
      ErrorCode::conversation, "a request is an object", path,
      "with `tools`, and `messages` where the prompt's end matters; a list of tools alone is for --tools");
}

Error no_value(const std::string& path) {
  return input_error(ErrorCode::value, "no value fits the schema", path,
                     "a model can write nothing by it: look for false, and for keywords that exclude each other");
}

/// How a grammar is made, and of which format.
struct Wanted {
  CompiledReplyFormat format;
  GrammarOptions options;
};

Result<void> take_format(Wanted& wanted, const ReplySource& source, const GrammarCommand& command, Value request) {
  const Result<ReplyStart> start = usual_start(source, command.wish, request);
  if (!start) return start.error();
  wanted.format = start->format;
  return {};
}

/// A request tells its tools, which of them may be called, its variables, and where its prompt ends.
Result<void> take_request(Wanted& wanted, const ReplySource& source, const GrammarCommand& command) {
  GrammarOptions& options = wanted.options;
  const Result<std::string> text = read_input(command.request, "the request");
  if (!text) return text.error();
  Document document;
  if (auto parsed = document.parse(*text, command.request); !parsed) return parsed.error();
  if (!document.root().is(Kind::dict)) return no_request(command.request);
  Result<GrammarOptions> asked = grammar_options(*text, command.request);
  if (!asked) return asked.error();
  options = std::move(*asked);
  if (command.has_prompt || document.root()["messages"].is_undefined())
    return take_format(wanted, source, command, document.root());
  const Result<ReplyStart> start = start_of_request(source, command.wish, *text, command.request);
  if (!start) return start.error();
  for (const std::string& note : start->notes) say_note(note);
  wanted.format = start->format;
  options.prompt = start->options.prompt;
  return {};
}

/// The form of the answer that the options ask for, over the request's.
Result<void> take_response(ResponseFormat& response, const GrammarCommand& command) {
  using Form = ResponseFormat::Kind;
  const int asked = !command.schema.empty() + !command.regex.empty() + !command.choices.empty() + command.json_object;
  if (asked > 1) return usage("an answer has one form", "--schema, --regex, --choice or --json-object");
  if (asked == 0) return {};
  response = {};
  response.pattern = command.regex;
  response.choices = command.choices;
  response.kind = !command.regex.empty()     ? Form::regex
                  : !command.choices.empty() ? Form::choice
                  : command.json_object      ? Form::json_object
                                             : Form::json_schema;
  if (command.schema.empty()) return {};
  Result<std::string> text = read_input(command.schema, "the schema");
  if (!text) return text.error();
  response.schema = std::move(*text);
  response.name = command.schema;
  return {};
}

Result<Wanted> wanted_of(const ReplySource& source, const GrammarCommand& command) {
  Wanted wanted;
  GrammarOptions& options = wanted.options;
  if (auto taken =
          command.request.empty() ? take_format(wanted, source, command, {}) : take_request(wanted, source, command);
      !taken)
    return taken.error();
  if (!command.wish.tools.empty()) {
    const Result<std::string> text = read_input(command.wish.tools, "the tools");
    if (!text) return text.error();
    options.tools = *text;
    options.tools_name = command.wish.tools;
  }
  if (!command.tool_choice.empty()) choose_tool(options, command.tool_choice);
  options.parallel = options.parallel && !command.no_parallel;
  options.reasoning = !command.no_reasoning;
  options.open = command.open;
  options.any_order = command.any_order;
  options.text_around_calls = command.text_around_calls;
  if (command.max_calls != 0) options.max_calls = command.max_calls;
  if (auto taken = take_response(options.response, command); !taken) return taken.error();
  if (command.has_prompt) options.prompt = command.prompt;
  return wanted;
}

/// Whether --schema is of an answer in a format of replies, and not of JSON alone.
bool is_of_reply(const GrammarCommand& command) {
  return command.wish.prompt.wish.any() || !command.wish.reply_format.empty() || !command.wish.tools.empty() ||
         !command.request.empty() || !command.tool_choice.empty() || command.has_prompt || command.no_parallel ||
         command.no_reasoning || command.text_around_calls || command.lazy || !command.tokenizer.empty();
}

/// The control tokens of a tokenizer: as its files tell them, else as it says when it is opened.
Result<std::vector<AddedToken>> tokens_of(const std::string& path) {
  Result<std::vector<AddedToken>> tokens = control_tokens(path);
  if (tokens || tokens.error().code() != ErrorCode::tokenizer || path.ends_with(".json")) return tokens;
  const Result<std::unique_ptr<Tokenizer>> tokenizer = open_tokenizer(path);
  return tokenizer ? (*tokenizer)->facts().added : tokens;
}

/// Which marks are control tokens: the tokenizer says so that was named, or the model's own where its files tell.
Result<void> take_control(GrammarOptions& options, const ReplySource& source, const GrammarCommand& command) {
  const bool of_model = command.tokenizer.empty();
  if (of_model && command.wish.prompt.wish.model.empty()) return {};
  Result<std::vector<AddedToken>> tokens = tokens_of(of_model ? source.setup.model.tokenizer_path : command.tokenizer);
  if (tokens)
    options.control = std::move(*tokens);
  else if (!of_model)
    return tokens.error();
  return {};
}

Result<Grammar> make_of_schema(const GrammarCommand& command) {
  const Result<std::string> text = read_input(command.schema, "the schema");
  if (!text) return text.error();
  Result<Grammar> made =
      make_value_grammar(*text, {.open = command.open, .any_order = command.any_order, .name = command.schema});
  return made && made->is_empty() ? Result<Grammar>(no_value(command.schema)) : std::move(made);
}

Result<Grammar> make(GrammarCommand& command) {
  if (!command.schema.empty() && !is_of_reply(command)) return make_of_schema(command);
  if (!command.wish.reply_format.empty() && command.wish.prompt.wish.any()) {
    return usage("--reply-format is the format of replies: it does not go with -t, -m or -f");
  }
  if (!command.wish.prompt.effort.empty() && command.request.empty()) {
    return usage("--reasoning-effort is for the prompt of a request: give --request",
                 "--prompt tells what a prompt ends with");
  }
  ReplyWish source_wish = command.wish;
  source_wish.tools.clear();  // read by the grammar itself
  const Result<ReplySource> source = open_reply_source(source_wish);
  if (!source) return source.error();
  Result<Wanted> wanted = wanted_of(*source, command);
  if (!wanted) return wanted.error();
  if (auto taken = take_control(wanted->options, *source, command); !taken) return taken.error();
  return make_grammar(wanted->format.source(), wanted->options);
}

// ---- the command

void list_notes(const std::vector<GrammarNote>& notes, const char* whole) {
  for (const GrammarNote& note : notes) {
    const std::string keyword = note.keyword.empty() ? "" : note.keyword + ": ";
    say(note.path.empty() ? std::string(whole) : note.path, keyword + note.why);
  }
}

void count_notes(const std::vector<GrammarNote>& notes) {
  const auto left_out =
      std::count_if(notes.begin(), notes.end(), [](const GrammarNote& note) { return note.left_out; });
  const auto wider = static_cast<std::ptrdiff_t>(notes.size()) - left_out;
  if (wider > 0)
    std::fprintf(stderr, "note: the grammar allows more than the schemas, in places: %td; --notes lists them\n", wider);
  if (left_out > 0)
    std::fprintf(stderr, "note: the grammar allows less than was asked for, in places: %td; --notes lists them\n",
                 left_out);
}

/// As llama-server's `/completion` takes it, beside the prompt.
std::string lazy_grammar_as_json(const LazyGrammar& lazy) {
  constexpr std::int64_t kWord = 1, kPattern = 3;  // its numbers for the kinds of triggers
  JsonWriter list('[');
  for (const GrammarTrigger& trigger : lazy.triggers) {
    JsonWriter one('{');
    one.number("type", trigger.kind == GrammarTrigger::Kind::word ? kWord : kPattern).text("value", trigger.value);
    list.next() += one.take();
  }
  JsonWriter json('{');
  json.text("grammar", lazy.grammar).flag("grammar_lazy", true);
  json.key("grammar_triggers") += list.take();
  JsonWriter shown('[');
  for (const std::string& text : lazy.preserved) append_json_string(shown.next(), text);
  json.key("preserved_tokens") += shown.take();
  return json.take() + "\n";
}

int print_lazy(const Grammar& grammar) {
  const Result<LazyGrammar> lazy = grammar.to_lazy();
  return lazy ? print(lazy_grammar_as_json(*lazy)) : report(lazy.error());
}

/// "gbnf (llama.cpp), lark (llguidance), … or json-schema".
std::string syntaxes(bool with_engines) {
  std::string all;
  for (std::size_t i = 0; i < kGrammarSyntaxes; ++i) {
    const auto syntax = static_cast<GrammarSyntax>(i);
    const std::string engine(engine_of(syntax));
    all.append(i == 0 ? "" : i + 1 == kGrammarSyntaxes ? " or " : ", ").append(name_of(syntax));
    if (with_engines && !engine.empty()) all += " (" + engine + ")";
  }
  return all;
}

int run_grammar(GrammarCommand& command) {
  const std::optional<GrammarSyntax> syntax = find_grammar_syntax(command.syntax);
  if (!syntax) return report(usage("there is no syntax '" + command.syntax + "'", syntaxes(false)));
  if (command.lazy && *syntax != GrammarSyntax::gbnf)
    return report(usage("--lazy is llama.cpp's way", "it goes with --syntax gbnf"));
  const Result<Grammar> grammar = make(command);
  if (!grammar) return report(grammar.error());
  if (command.notes) {
    list_notes(grammar->notes(), command.schema.empty() ? "replies" : "schema");
  } else {
    count_notes(grammar->notes());
  }
  if (const std::string warning = grammar->warning(*syntax); !warning.empty()) {
    const std::string advice = ": --tokenizer PATH, or -m with the model's folder or GGUF file, tells which are\n";
    std::fputs(("note: " + warning + advice).c_str(), stderr);
  }
  if (command.any_order && *syntax == GrammarSyntax::json_schema) {
    std::fputs("note: --any-order has no effect in json-schema: the order is the engine's own\n", stderr);
  }
  if (*syntax == GrammarSyntax::json_schema && grammar->response() != ResponseFormat::Kind::text) {
    std::fputs("note: json-schema says the calls alone: the form of an answer is left out\n", stderr);
  }
  return command.lazy ? print_lazy(*grammar) : print(grammar->to_text(*syntax));
}

constexpr const char* kGrammarExamples = R"(Examples:
  parlance grammar --syntax gbnf -f terminal-agent --tools tools.json
  parlance grammar --syntax gbnf -t chat_template.jinja --tools tools.json
  parlance grammar --syntax lark -f rnj-1 --request chat.json --tool-choice required --notes
  parlance grammar --syntax structural-tag --reply-format format.json --tools tools.json --no-parallel
  parlance grammar --syntax gbnf -f rnj-1 --tools tools.json --schema answer.json    calls, or an answer by a schema
  parlance grammar --syntax gbnf -f rnj-1 --tools tools.json --lazy                  free text up to a call
  parlance grammar --syntax gbnf --schema answer.json      JSON by a schema alone)";

}  // namespace

Run declare_grammar(Options& app) {
  auto command = std::make_shared<GrammarCommand>();
  GrammarCommand& c = *command;
  app.examples(kGrammarExamples);
  app.add_option("--syntax", c.syntax, syntaxes(true)).placeholder("SYNTAX").required();
  app.add_option("-t,--template", c.wish.prompt.wish.file, "A template; the reply format is derived from it")
      .placeholder("FILE");
  app.add_option("-m,--model", c.wish.prompt.wish.model, kModelOption).placeholder("MODEL");
  app.add_option("-f,--format", c.wish.prompt.wish.format, "A built-in format").placeholder("FORMAT");
  app.add_option("--name", c.wish.prompt.wish.name, "Use this one of a model's named templates").placeholder("NAME");
  declare_variables(app, c.wish.prompt.variables);
  declare_effort(app, c.wish.prompt);
  app.add_option("--reply-format", c.wish.reply_format,
                 "The reply format, as parlance read --show-format prints it,\nor a response_template")
      .placeholder("FILE");
  app.add_option("--tools", c.wish.tools, "A list of tools, as requests have them").placeholder("FILE");
  app.add_option("--request", c.request,
                 "A request, for its tools, tool_choice, parallel_tool_calls\nand the end of its prompt")
      .placeholder("FILE");
  app.add_option("--tool-choice", c.tool_choice, "auto, required, none, or the name of a tool").placeholder("CHOICE");
  app.add_option(
         "--prompt", [&c](const std::string& text) { c.prompt = text, c.has_prompt = true; },
         "The end of the prompt, if it differs from the format's")
      .placeholder("TEXT");
  app.add_option("--tokenizer", c.tokenizer,
                 "The tokenizer, to know its control tokens: a tokenizer.json or its folder,\na GGUF file, or "
                 "SentencePiece's .model; by default what -m names")
      .placeholder("PATH");
  app.add_option("--schema", c.schema,
                 "The answer is JSON by this schema; with no format and no tools,\nthat JSON alone, instead of a reply")
      .placeholder("FILE");
  app.add_flag("--json-object", c.json_object, "The answer is any JSON object");
  app.add_option("--regex", c.regex, "The whole answer matches this regular expression").placeholder("PATTERN");
  app.add_option("--choice", c.choices, "The answer is one of these texts; may be repeated")
      .placeholder("TEXT")
      .one_value();
  app.add_option("--max-calls", c.max_calls, "Allow at most N calls, up to 64")
      .placeholder("N")
      .check(whole_number(1, 64));
  app.add_flag(
      "--lazy", c.lazy,
      "For llama.cpp: a lazy grammar, active once a call begins, and its\ntriggers, as llama-server takes them");
  app.add_flag("--no-parallel", c.no_parallel, "At most one call");
  app.add_flag("--no-reasoning", c.no_reasoning,
               "No reasoning; if the prompt has opened it, the reply must close it at once");
  app.add_flag("--open", c.open, "Allow what schemas do not forbid: members that they do not name, any type");
  app.add_flag("--any-order", c.any_order,
               "Allow members of objects in any order, not only as the schemas declare them");
  app.add_flag("--text-around-calls", c.text_around_calls,
               "With tool choice auto: also allow text between and after calls");
  app.add_flag("--notes", c.notes,
               "List on standard error where the grammar allows more than the schemas,\nand what it leaves out");
  return [command] { return run_grammar(*command); };
}

}  // namespace parlance::cli
