// The doors: options and tools in, a Grammar out. Begin reading at make_grammar.
#include "parlance/grammar.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "base/nearest.h"
#include "conversation/custom_tool.h"
#include "grammar/data.h"
#include "grammar/matcher.h"
#include "grammar/printers.h"
#include "grammar/reply_grammar.h"
#include "json/document.h"
#include "reply/marker_texts.h"
#include "reply/tools.h"

namespace parlance {
namespace {

using grammar::Tool;

constexpr std::string_view kSyntaxNames[] = {"gbnf", "lark", "structural-tag", "json-schema"};
constexpr std::string_view kEngines[] = {"llama.cpp", "llguidance", "xgrammar", ""};
static_assert(std::size(kSyntaxNames) == kGrammarSyntaxes && std::size(kEngines) == kGrammarSyntaxes);

Error value_error(std::string message, std::string path, std::string hint = {}) {
  return Error(ErrorCode::value, std::move(message)).input(std::move(path)).hint(std::move(hint));
}

/// What is wrong with a tool of the list, if something is.
struct Fault {
  std::string_view why;
  bool left_out = true;
};

/// {"type": "function", "function": {…}}, the inner object, or a custom tool. What has no name is no tool.
Fault add_tool(std::vector<Tool>& tools, std::unordered_set<std::string>& names, Value value, Runtime& rt) {
  if (!value.is(Kind::dict)) return {"no tool, which is an object with a name: left out"};
  const Value custom = function_of_custom(rt, value);
  const bool loose = has_grammar_beyond_pattern(value, custom);
  if (custom.is(Kind::dict)) value = custom;
  if (const Value inner = member_value(value, "function"); inner.is(Kind::dict)) value = inner;
  const Value name = member_value(value, "name");
  if (!name.is_string() || leaf_text(name).empty()) return {"no function: it has no name, and is left out"};
  if (!names.emplace(leaf_text(name)).second) return {"left out: there is a tool of this name"};
  Tool tool{std::string(leaf_text(name)), member_value(value, "parameters")};
  if (tool.parameters.is_undefined()) tool.parameters = member_value(value, "input_schema");
  const bool is_schema = tool.parameters.is_undefined() || tool.parameters.is_none() ||
                         tool.parameters.is(Kind::dict) || tool.parameters.is(Kind::boolean);
  tools.push_back(std::move(tool));
  if (loose) return {"its grammar is not a regular expression and is not enforced: any text", false};
  return {is_schema ? "" : "its parameters are not a schema: any object", false};
}

Result<void> read_tools(GrammarData& data, grammar::Notes& notes) {
  if (data.options.tools.empty()) return {};
  if (auto parsed = data.document.parse(data.options.tools, data.options.tools_name); !parsed) return parsed.error();
  const Value root = data.document.root();
  if (root.is_none()) return {};
  if (!root.is_sequence()) return reply::no_list_of_tools(data.options.tools_name);
  std::unordered_set<std::string> names;
  std::size_t number = 0;
  const Limits limits;
  Runtime rt(inside_of(data.document).arena(), limits);
  for (const Value value : items(root)) {
    const Fault wrong = add_tool(data.tools, names, value, rt);
    if (!wrong.why.empty()) notes.add("[" + std::to_string(number) + "]", "", wrong.why, wrong.left_out);
    ++number;
  }
  return {};
}

/// The control tokens that the format names, and those of the tokenizer whose texts stand in it.
std::vector<AddedToken> control_of(const ReplyFormat& format, const std::vector<AddedToken>& tokenizer) {
  std::vector<AddedToken> tokens;
  if (!tokenizer.empty()) {
    const reply::MarkerTexts markers(format);
    std::copy_if(tokenizer.begin(), tokenizer.end(), std::back_inserter(tokens),
                 [&](const AddedToken& token) { return token.control && markers.have(token.text); });
  }
  for (const std::string& named : format.control) {
    if (std::any_of(tokens.begin(), tokens.end(), [&](const AddedToken& token) { return token.text == named; }))
      continue;
    AddedToken token;
    token.text = named;
    token.special = true;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// Takes out what can never be finished, and notes whose arguments that are. Whether a reply is left.
bool prune(GrammarData& data, grammar::Notes& notes) {
  const std::vector<bool> has_text = data.ir.prune();
  for (std::size_t i = 0; i < data.arguments.size(); ++i) {
    if (data.arguments[i] == grammar::kNone || has_text[data.arguments[i]]) continue;
    notes.add(data.document.path_of(data.tools[i].parameters), "",
              "no value fits: '" + data.tools[i].name + "' cannot be called", true);
  }
  return has_text[data.root];
}

Result<void> read_response(GrammarData& data) {
  const ResponseFormat& wanted = data.options.response;
  if (wanted.kind == ResponseFormat::Kind::json_schema) {
    if (auto parsed = data.response.parse(wanted.schema, wanted.name); !parsed) return parsed.error();
  }
  if (wanted.kind == ResponseFormat::Kind::choice && wanted.choices.empty())
    return value_error("there is nothing to choose from", "response_format");
  if (wanted.kind != ResponseFormat::Kind::regex) return {};
  grammar::Ir scratch;
  std::string why;
  const grammar::Unit unit = [&](std::vector<grammar::Range> ranges) { return scratch.chars(std::move(ranges)); };
  // )( is none, though brackets round it make it one
  const bool alone = grammar::parse_regex(scratch, unit, wanted.pattern, why).has_value();
  if (alone && grammar::parse_regex(scratch, unit, grammar::whole_pattern(wanted.pattern), why)) return {};
  return value_error("this pattern cannot be held to: " + why, "response_format",
                     "classes, groups, alternatives and counted repeats can be");
}

/// Keeps the tools that may be called.
/// All other tools go before anything is made: they cost nothing, and the faults of their schemas are not noted.
Result<void> choose_tools(GrammarData& data, const ReplyFormat& format) {
  const ToolChoice choice = data.options.choice;
  if (choice == ToolChoice::named) {
    NearestName nearest(data.options.name);
    for (const Tool& tool : data.tools) nearest.offer(tool.name);
    std::erase_if(data.tools, [&](const Tool& tool) { return tool.name != data.options.name; });
    if (data.tools.empty())
      return value_error("there is no tool '" + data.options.name + "' to call", "tool_choice", nearest.hint());
  }
  const bool must = choice == ToolChoice::required || choice == ToolChoice::named;
  if (must && data.tools.empty()) return value_error("a call is required, and there is no tool", "tool_choice");
  if (must && format.calls.empty()) return value_error("a call is required, and the format has none", "tool_choice");
  if (choice == ToolChoice::none) data.tools.clear();
  data.parallel = data.options.parallel && format.parallel;
  return {};
}

/// An empty grammar would make an engine stop without a word, or fail inside; so it is an error that says whose schemas
/// leave nothing.
Error no_reply(const GrammarOptions& options) {
  const bool must = options.choice == ToolChoice::required || options.choice == ToolChoice::named;
  if (must || options.response.kind == ResponseFormat::Kind::text)
    return value_error("no call can be written: the tools' schemas allow nothing", "tools");
  return value_error("no answer can be written: nothing fits the response's format", "response_format");
}

}  // namespace

std::span<const std::string_view> grammar_syntax_names() { return kSyntaxNames; }
std::string_view name_of(GrammarSyntax syntax) { return kSyntaxNames[static_cast<std::size_t>(syntax)]; }
std::string_view engine_of(GrammarSyntax syntax) { return kEngines[static_cast<std::size_t>(syntax)]; }

std::optional<GrammarSyntax> find_grammar_syntax(std::string_view name) {
  const auto found = std::find(std::begin(kSyntaxNames), std::end(kSyntaxNames), name);
  if (found == std::end(kSyntaxNames)) return std::nullopt;
  return static_cast<GrammarSyntax>(found - std::begin(kSyntaxNames));
}

Result<Grammar> make_grammar(const ReplyFormat& format, const GrammarOptions& options) {
  if (Result<void> valid = format.validate(); !valid) return valid.error();
  auto data = std::make_shared<GrammarData>();
  data->options = options;
  data->control = control_of(format, options.control);
  const bool has_marks = !format.calls.empty() || format.reasoning_open.exists() || format.content_open.exists();
  data->has_text_marks = has_marks && options.control.empty() && format.control.empty();
  grammar::Notes notes;
  if (auto read = read_tools(*data, notes); !read) return read.error();
  if (auto chosen = choose_tools(*data, format); !chosen) return chosen.error();
  if (format.calls.empty() && !data->tools.empty())
    notes.add("", "", "the format has no calls: the tools are left out", true);
  if (auto response = read_response(*data); !response) return response.error();
  data->root = grammar::ReplyGrammar(*data, format, notes).make();
  if (!prune(*data, notes)) return no_reply(options);
  data->notes = notes.take();
  return Grammar(std::move(data));
}

Result<Grammar> make_value_grammar(std::string_view schema, const ValueGrammarOptions& options) {
  auto data = std::make_shared<GrammarData>();
  data->of_value = true;
  data->options.open = options.open;
  data->options.any_order = options.any_order;
  if (auto parsed = data->document.parse(schema, options.name); !parsed) return parsed.error();
  grammar::Notes notes;
  const grammar::Style json(data->ir, grammar::Style::Kind::json, grammar::Style::Space::lines);
  grammar::Shared shared;
  grammar::Schema compiler({data->ir, data->document, notes, shared, options.open, options.any_order},
                           data->document.root());
  data->root = compiler.value(json, {data->document.root()}, "root-value");
  if (!options.any_order) data->json.emplace(data->root, data->document.root());
  compiler.make_rules();
  if (!data->ir.prune()[data->root]) {
    data->root = data->ir.never();
    data->json.clear();
  }
  data->notes = notes.take();
  return Grammar(std::move(data));
}

const std::vector<GrammarNote>& Grammar::notes() const& { return data_->notes; }
std::vector<GrammarNote> Grammar::notes() const&& { return data_->notes; }

bool Grammar::is_empty() const { return data_->root == data_->ir.never(); }
ResponseFormat::Kind Grammar::response() const { return data_->options.response.kind; }

bool Grammar::accepts(std::string_view text) const { return grammar::Matcher(data_->ir, data_->root).accepts(text); }

std::string Grammar::warning(GrammarSyntax syntax) const {
  if (syntax != GrammarSyntax::lark || !data_->has_text_marks) return {};
  return "no tokenizer is known, so marks are written as text, and llguidance refuses them where they are control "
         "tokens";
}

std::string Grammar::to_text(GrammarSyntax syntax) const {
  switch (syntax) {
    case GrammarSyntax::gbnf:
      return data_->of_value ? grammar::print_gbnf(data_->ir, {&data_->root, 1})
                             : grammar::print_gbnf_of_reply(data_->ir, data_->root);
    case GrammarSyntax::lark: return grammar::print_lark(*data_);
    case GrammarSyntax::structural_tag: return grammar::print_structural_tag(*data_);
    case GrammarSyntax::json_schema: return grammar::print_json_schema(*data_);
  }
  return {};
}

}  // namespace parlance
