// The doors: options and tools in, a Grammar out. Begin reading at make_grammar.
#include "parlance/grammar.h"

#include <algorithm>
#include <iterator>

#include "grammar/data.h"
#include "grammar/matcher.h"
#include "grammar/printers.h"
#include "grammar/reply_grammar.h"

namespace parlance {
namespace {

using grammar::Tool;

constexpr std::string_view kSyntaxNames[] = {"gbnf", "lark", "structural-tag", "json-schema"};

Error value_error(std::string message, std::string path, std::string hint = {}) {
  Error::Parts parts;
  parts.code = ErrorCode::value;
  parts.message = std::move(message);
  parts.input_path = std::move(path);
  parts.hint = std::move(hint);
  return Error(std::move(parts));
}

Value member(Value dict, std::string_view key) {
  const DictEntry* entry = dict.is(Kind::dict) ? find_key(*dict.dict, key) : nullptr;
  return entry == nullptr ? Value() : entry->value;
}

/// {"type": "function", "function": {…}} or the inner object. What has no name is no tool.
void add_tool(std::vector<Tool>& tools, Value value) {
  if (const Value inner = member(value, "function"); inner.is(Kind::dict)) value = inner;
  const Value name = member(value, "name");
  if (!name.is_string() || leaf_text(name).empty()) return;
  Tool tool{std::string(leaf_text(name)), member(value, "parameters")};
  if (tool.parameters.is_undefined()) tool.parameters = member(value, "input_schema");
  const bool known = std::any_of(tools.begin(), tools.end(), [&](const Tool& t) { return t.name == tool.name; });
  if (!known) tools.push_back(std::move(tool));
}

Result<void> read_tools(Grammar::Data& data) {
  if (data.options.tools.empty()) return {};
  if (auto parsed = data.document.parse(data.options.tools, "<tools>"); !parsed) return parsed.error();
  const Value root = data.document.root();
  if (root.is_none()) return {};
  if (!root.is_sequence()) return value_error("tools are a list", "");
  for (const Value value : items(root)) add_tool(data.tools, value);
  return {};
}

/// Keeps the tools that may be called.
Result<void> choose_tools(Grammar::Data& data, const ReplyFormat& format) {
  const ToolChoice choice = data.options.choice;
  if (choice == ToolChoice::named) {
    std::erase_if(data.tools, [&](const Tool& tool) { return tool.name != data.options.name; });
    if (data.tools.empty()) return value_error("there is no tool '" + data.options.name + "' to call", "tool_choice");
  }
  const bool must = choice == ToolChoice::required || choice == ToolChoice::named;
  if (must && data.tools.empty()) return value_error("a call is required, and there is no tool", "tool_choice");
  if (must && format.calls.empty()) return value_error("a call is required, and the format has none", "tool_choice");
  if (choice == ToolChoice::none) data.tools.clear();
  data.parallel = data.options.parallel && format.parallel;
  return {};
}

}  // namespace

std::string_view name_of(GrammarSyntax syntax) { return kSyntaxNames[static_cast<std::size_t>(syntax)]; }

std::optional<GrammarSyntax> find_grammar_syntax(std::string_view name) {
  const auto found = std::find(std::begin(kSyntaxNames), std::end(kSyntaxNames), name);
  if (found == std::end(kSyntaxNames)) return std::nullopt;
  return static_cast<GrammarSyntax>(found - std::begin(kSyntaxNames));
}

Result<Grammar> make_grammar(const ReplyFormat& format, const GrammarOptions& options) {
  auto data = std::make_shared<Grammar::Data>();
  data->options = options;
  if (auto read = read_tools(*data); !read) return read.error();
  if (auto chosen = choose_tools(*data, format); !chosen) return chosen.error();
  grammar::Notes notes;
  data->root = grammar::ReplyGrammar(*data, format, notes).make();
  if (data->root == data->ir.never()) return value_error("no call can be written: a tool's schema allows nothing", "tools");
  data->notes = notes.take();
  return Grammar(std::move(data));
}

Result<Grammar> make_value_grammar(std::string_view schema, bool open) {
  auto data = std::make_shared<Grammar::Data>();
  data->options.open = open;
  if (auto parsed = data->document.parse(schema, "<schema>"); !parsed) return parsed.error();
  grammar::Notes notes;
  const grammar::Style json(data->ir, grammar::Style::Kind::json, grammar::Style::Space::lines);
  grammar::Schema compiler({data->ir, data->document, notes, open}, data->document.root(), "value");
  data->root = compiler.value(json, {data->document.root()}, "root-value");
  data->json.emplace(data->root, data->document.root());
  compiler.make_rules();
  data->notes = notes.take();
  return Grammar(std::move(data));
}

const std::vector<GrammarNote>& Grammar::notes() const { return data_->notes; }

bool Grammar::accepts(std::string_view text) const { return grammar::Matcher(data_->ir, data_->root).accepts(text); }

std::string Grammar::to_text(GrammarSyntax syntax) const {
  switch (syntax) {
    case GrammarSyntax::gbnf: return grammar::print_gbnf(data_->ir, data_->root);
    case GrammarSyntax::lark: return grammar::print_lark(*data_);
    case GrammarSyntax::structural_tag: return grammar::print_structural_tag(*data_);
    case GrammarSyntax::json_schema: return grammar::print_json_schema(*data_);
  }
  return {};
}

}  // namespace parlance
