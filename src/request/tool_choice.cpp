// tool_choice in the spellings of the APIs. Begin reading at take_choice.
//
//     "auto"  "required"  "none"                                                    OpenAI
//     {"type": "function", "function": {"name": N}}                                 chat completions
//     {"type": "allowed_tools", "allowed_tools": {"mode": M, "tools": [{…}]}}
//     {"type": "function", "name": N}                                               responses
//     {"type": "custom", "custom": {"name": N}} or {"type": "custom", "name": N}    both: a custom tool
//     {"type": "allowed_tools", "mode": M, "tools": [{…}]}
//     {"type": "auto" | "any" | "none"}  {"type": "tool", "name": N}                Anthropic
#include "request/tool_choice.h"

#include <optional>
#include <set>

#include "json/json.h"
#include "value/dict.h"

namespace parlance {
namespace {

Error no_choice(std::string path) {
  return Error(ErrorCode::conversation, "this is not a valid tool choice")
      .input(std::move(path))
      .hint("auto, required, none or {\"type\": \"function\", \"function\": {\"name\": NAME}}");
}

std::string text_of(Value value) { return value.is_string() ? std::string(leaf_text(value)) : std::string(); }

/// The name of a tool, or of what calls one; "" where there is none.
std::string name_in(Value tool) {
  for (const std::string_view kind : {"function", "custom"}) {
    const std::string inner = text_of(member_value(member_value(tool, kind), "name"));
    if (!inner.empty()) return inner;
  }
  return text_of(member_value(tool, "name"));
}

Error no_flag(std::string path) {
  return Error(ErrorCode::conversation, "this is neither true nor false").input(std::move(path));
}

/// Whether a member is true; nothing where it is missing or null. Fails where it is anything else.
Result<std::optional<bool>> flag_in(Value of, std::string_view name, std::string_view path) {
  const Value flag = member_value(of, name);
  if (flag.is_undefined() || flag.is_none()) return std::optional<bool>();
  if (!flag.is(Kind::boolean)) return no_flag(std::string(path) + std::string(name));
  return std::optional<bool>(flag.integer != 0);
}

bool is_mode(std::string_view word) { return word == "auto" || word == "required" || word == "any" || word == "none"; }

/// Keeps of the request's tools those that are named in `allowed`.
void keep_tools(GrammarOptions& options, Value tools, Value allowed) {
  std::set<std::string> names;
  for (const Value one : items(allowed)) names.insert(name_in(one));
  names.erase("");
  std::string kept;
  for (const Value tool : tools.is_sequence() ? items(tools) : std::span<const Value>())
    if (names.contains(name_in(tool))) kept.append(kept.empty() ? "[" : ", ").append(json_text(tool));
  options.tools = kept.empty() ? "[]" : kept + "]";
}

Result<void> take_allowed(GrammarOptions& options, Value tools, Value choice) {
  const Value inner = member_value(choice, "allowed_tools");
  const bool nested = inner.is(Kind::dict);
  const Value allowed = member_value(nested ? inner : choice, "tools");
  const std::string mode = text_of(member_value(nested ? inner : choice, "mode"));
  const std::string path = nested ? "tool_choice.allowed_tools" : "tool_choice";
  if (!allowed.is_sequence()) return no_choice(path + ".tools");
  if (!is_mode(mode)) return no_choice(path + ".mode");
  keep_tools(options, tools, allowed);
  choose_tool(options, mode);
  return {};
}

Result<void> take_choice(GrammarOptions& options, Value tools, Value choice) {
  if (choice.is_undefined() || choice.is_none()) return {};
  const std::string word = text_of(choice), type = text_of(member_value(choice, "type"));
  if (is_mode(word) || is_mode(type)) {
    choose_tool(options, word.empty() ? type : word);
    return {};
  }
  if (type == "allowed_tools") return take_allowed(options, tools, choice);
  const std::string name = name_in(choice);
  if (name.empty()) return no_choice("tool_choice");
  options.choice = ToolChoice::named;
  options.name = name;
  return {};
}

}  // namespace

void choose_tool(GrammarOptions& options, std::string_view word) {
  options.name.clear();
  if (word == "auto") {
    options.choice = ToolChoice::automatic;
  } else if (word == "required" || word == "any") {
    options.choice = ToolChoice::required;
  } else if (word == "none") {
    options.choice = ToolChoice::none;
  } else {
    options.choice = ToolChoice::named;
    options.name = word;
  }
}

Result<void> take_most_calls(GrammarOptions& options, Value most) {
  constexpr std::int64_t kAnyNumber = 1'000'000;  // more than a reply has
  if (most.is_undefined() || most.is_none()) return {};
  if (!most.is_small_int() || most.integer < 1)
    return Error(ErrorCode::conversation, "max_tool_calls is a whole number of 1 or more").input("max_tool_calls");
  options.max_calls = most.integer < kAnyNumber ? static_cast<std::uint32_t>(most.integer) : 0;
  return {};
}

Result<void> take_tool_options(GrammarOptions& options, Value request) {
  const Value tools = member_value(request, "tools");
  if (!tools.is_undefined()) options.tools = json_text(tools);
  const Value choice = member_value(request, "tool_choice");
  if (auto taken = take_choice(options, tools, choice); !taken) return taken.error();
  const Result<std::optional<bool>> parallel = flag_in(request, "parallel_tool_calls", "");
  if (!parallel) return parallel.error();
  if (auto taken = take_most_calls(options, member_value(request, "max_tool_calls")); !taken) return taken.error();
  const Result<std::optional<bool>> single = flag_in(choice, "disable_parallel_tool_use", "tool_choice.");
  if (!single) return single.error();
  const Value functions = member_value(request, "functions");  // before `tools`: answers have a place for one call
  const bool is_one = functions.is_sequence() && !items(functions).empty();
  // The APIs answer the choice of one tool by one call of it.
  const bool by_default = options.parallel && !is_one && options.choice != ToolChoice::named;
  options.parallel = parallel->value_or(by_default) && !single->value_or(false);
  return {};
}

}  // namespace parlance
