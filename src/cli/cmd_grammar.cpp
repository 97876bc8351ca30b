// parlance grammar: what constrains a model to well-formed replies, in the language of an engine. Begin reading at run_grammar.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "cli/derive_choice.h"
#include "cli/report.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/source.h"
#include "value/dict.h"
#include "value/json.h"

namespace parlance::cli {
namespace {

struct GrammarCommand {
  PromptOptions prompt_options;  ///< -t, -m, -f
  std::string syntax;
  std::string reply_format;
  std::string tools;
  std::string request;
  std::string schema;
  std::string tool_choice;
  std::string prompt;
  bool has_prompt = false;
  bool no_parallel = false;
  bool no_reasoning = false;
  bool open = false;
  bool notes = false;
};

Result<std::string> read_input(const std::string& path) { return read_file(path == "-" ? "/dev/stdin" : path); }

/// The one place that chooses how replies are written.
Result<ReplyFormat> format_of(GrammarCommand& command) {
  if (!command.reply_format.empty()) {
    const Result<std::string> text = read_input(command.reply_format);
    return text ? ReplyFormat::from_json(*text, command.reply_format) : Result<ReplyFormat>(text.error());
  }
  Result<DerivedFormat> derived = derive_reply(command.prompt_options);
  return derived ? Result<ReplyFormat>(std::move(derived->format)) : Result<ReplyFormat>(derived.error());
}

// ---- the request

std::string json_text(Value value) {
  Arena arena;
  const Limits limits;
  Runtime runtime(arena, limits);
  std::string out;
  return append_json(runtime, out, value) ? out : "null";
}

Value member(Value dict, std::string_view key) {
  const DictEntry* entry = dict.is(Kind::dict) ? find_key(*dict.dict, key) : nullptr;
  return entry == nullptr ? Value() : entry->value;
}

void choose(GrammarOptions& options, const std::string& word) {
  options.name.clear();
  if (word == "auto") {
    options.choice = ToolChoice::automatic;
  } else if (word == "required") {
    options.choice = ToolChoice::required;
  } else if (word == "none") {
    options.choice = ToolChoice::none;
  } else {
    options.choice = ToolChoice::named;
    options.name = word;
  }
}

/// `tools`, `tool_choice` and `parallel_tool_calls` of a request.
Result<void> take_request(GrammarOptions& options, const std::string& path) {
  const Result<std::string> text = read_input(path);
  if (!text) return text.error();
  Document document;
  if (auto parsed = document.parse(*text, path); !parsed) return parsed.error();
  const Value tools = member(document.root(), "tools");
  if (!tools.is_undefined()) options.tools = json_text(tools);
  const Value choice = member(document.root(), "tool_choice");
  if (choice.is_string()) choose(options, std::string(leaf_text(choice)));
  if (const Value name = member(member(choice, "function"), "name"); name.is_string()) choose(options, std::string(leaf_text(name)));
  const Value parallel = member(document.root(), "parallel_tool_calls");
  if (parallel.is(Kind::boolean)) options.parallel = parallel.integer != 0;
  return {};
}

Result<GrammarOptions> options_of(const GrammarCommand& command) {
  GrammarOptions options;
  if (!command.request.empty()) {
    if (auto taken = take_request(options, command.request); !taken) return taken.error();
  }
  if (!command.tools.empty()) {
    const Result<std::string> text = read_input(command.tools);
    if (!text) return text.error();
    options.tools = *text;
  }
  if (!command.tool_choice.empty()) choose(options, command.tool_choice);
  options.parallel = options.parallel && !command.no_parallel;
  options.reasoning = !command.no_reasoning;
  options.open = command.open;
  if (command.has_prompt) options.prompt = command.prompt;
  return options;
}

Result<Grammar> make(GrammarCommand& command) {
  if (!command.schema.empty()) {
    if (command.prompt_options.wish.any() || !command.reply_format.empty()) return usage("--schema is a grammar of JSON, not of replies");
    const Result<std::string> text = read_input(command.schema);
    return text ? make_value_grammar(*text, command.open) : Result<Grammar>(text.error());
  }
  const Result<ReplyFormat> format = format_of(command);
  if (!format) return format.error();
  const Result<GrammarOptions> options = options_of(command);
  return options ? make_grammar(*format, *options) : Result<Grammar>(options.error());
}

// ---- the command

int run_grammar(GrammarCommand& command) {
  const std::optional<GrammarSyntax> syntax = find_grammar_syntax(command.syntax);
  if (!syntax) return report(usage("there is no syntax '" + command.syntax + "'", "gbnf, lark, structural-tag or json-schema"));
  const Result<Grammar> grammar = make(command);
  if (!grammar) return report(grammar.error());
  for (const GrammarNote& note : grammar->notes()) {
    if (!command.notes) break;
    std::fprintf(stderr, "%s: %s: %s\n", note.path.empty() ? "schema" : note.path.c_str(), note.keyword.c_str(), note.why.c_str());
  }
  if (!command.notes && !grammar->notes().empty()) {
    std::fprintf(stderr, "note: the grammar allows more than the schemas, in places: %zu; --notes lists them\n", grammar->notes().size());
  }
  return print(grammar->to_text(*syntax));
}

constexpr const char* kFooter = R"(Examples:
  parlance grammar --syntax gbnf -f terminal-agent --tools tools.json
  parlance grammar --syntax gbnf -t chat_template.jinja --tools tools.json
  parlance grammar --syntax lark -f rnj-1 --request chat.json --tool-choice required --notes
  parlance grammar --syntax structural-tag --reply-format format.json --tools tools.json --no-parallel
  parlance grammar --syntax gbnf --schema answer.json      JSON by a schema, as for response_format)";

}  // namespace

Run declare_grammar(CLI::App& app) {
  auto command = std::make_shared<GrammarCommand>();
  GrammarCommand& c = *command;
  app.footer(kFooter);
  app.add_option("--syntax", c.syntax, "gbnf (llama.cpp), lark (llguidance),\nstructural-tag (xgrammar) or json-schema")->type_name("NAME")->required();
  app.add_option("-t,--template", c.prompt_options.wish.file, "A template: what its model writes is derived")->type_name("FILE");
  app.add_option("-m,--model", c.prompt_options.wish.model, kModelOption)->type_name("MODEL");
  app.add_option("-f,--format", c.prompt_options.wish.format, "A built-in format")->type_name("NAME");
  app.add_option("--reply-format", c.reply_format, "How replies are written, as JSON")->type_name("FILE");
  app.add_option("--tools", c.tools, "A list of tools, as requests have them")->type_name("FILE");
  app.add_option("--request", c.request, "A request: its tools, tool_choice and parallel_tool_calls")->type_name("FILE");
  app.add_option("--tool-choice", c.tool_choice, "auto, required, none, or the name of a tool")->type_name("CHOICE");
  app.add_option_function<std::string>(
         "--prompt", [&c](const std::string& text) { c.prompt = text, c.has_prompt = true; },
         "What the prompt ends with, where it is not as the format says")
      ->type_name("TEXT");
  app.add_option("--schema", c.schema, "JSON by this schema, instead of a reply")->type_name("FILE");
  app.add_flag("--no-parallel", c.no_parallel, "At most one call");
  app.add_flag("--no-reasoning", c.no_reasoning, "No reasoning, but what the prompt has opened is closed");
  app.add_flag("--open", c.open, "Allow what schemas do not forbid: members that they do not name, any type");
  app.add_flag("--notes", c.notes, "List on standard error where the grammar allows more than the schemas");
  return [command] { return run_grammar(*command); };
}

}  // namespace parlance::cli
