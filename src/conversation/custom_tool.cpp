// Custom tools as functions of one text. Begin reading at function_of_custom.
#include "conversation/custom_tool.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "conversation/edit.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace {

/// The dict with "syntax" and "definition"; undefined where any text is taken.
Value grammar_in(Value custom) {
  const Value format = member_value(custom, "format");
  if (!format.is(Kind::dict) || !is_text(member(format, "type"), "grammar")) return {};
  const Value inner = member_value(format, "grammar");
  return inner.is(Kind::dict) ? inner : format;
}

/// Whether each bracket of the pattern has its own, so that the pattern stays what it is inside of others.
bool is_balanced(std::string_view pattern) {
  int depth = 0;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size() && depth >= 0; ++i) {
    if (pattern[i] == '\\')
      ++i;
    else if (in_class)
      in_class = pattern[i] != ']';
    else if (pattern[i] == '[')
      in_class = true;
    else if (pattern[i] == '(')
      ++depth;
    else if (pattern[i] == ')')
      --depth;
  }
  return depth == 0 && !in_class;
}

/// The schema of the text.
Value input_schema(Runtime& rt, Value custom) {
  DictBuilder schema(rt, 2);
  schema.set("type", Value::view("string"));
  const Value grammar = grammar_in(custom);
  const Value definition = member_value(grammar, "definition");
  if (!definition.is_string()) return schema.finish();
  const std::string said(leaf_text(definition));
  const bool regex = is_text(member(grammar, "syntax"), "regex") && is_balanced(said);
  StringBuilder text(rt);
  text.append_derived(regex ? "^(?:" + said + ")$" : "By this grammar:\n" + said, definition);
  schema.set(regex ? "pattern" : "description", text.finish());
  return with_origin(schema.finish(), grammar.dict->origin);
}

/// Is it a member that the function has in other words, or cannot have?
bool is_of_custom(std::string_view name) {
  constexpr std::string_view kNames[] = {"type", "name", "description", "format", "parameters"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

Value inside_custom(Value tool) {
  if (!tool.is(Kind::dict) || !is_text(member(tool, "type"), "custom")) return {};
  const Value inner = member_value(tool, "custom");
  return inner.is(Kind::dict) ? inner : tool;
}

Value function_of_custom(Runtime& rt, Value tool) {
  const Value custom = inside_custom(tool);
  if (!custom.is(Kind::dict) || !member_value(custom, "name").is_string()) return {};
  DictBuilder properties(rt, 1), parameters(rt, 3), function(rt, custom.dict->size + 1);
  properties.set(kCustomInput, input_schema(rt, custom));
  ListBuilder required(rt, 1);
  required.append(Value::view(kCustomInput));
  parameters.set("type", Value::view("object"));
  parameters.set("properties", properties.finish());
  parameters.set("required", required.finish());
  for (const std::string_view key : {"name", "description"}) {
    if (const Value* value = member(custom, key)) function.set(key, *value);
  }
  function.set("parameters", parameters.finish());
  for (const DictEntry& entry : entries(custom)) {  // what else it says stays said
    if (!is_of_custom(leaf_text(entry.key))) function.set(entry.key, entry.value);
  }
  return with_origin(function.finish(), custom.dict->origin);
}

bool has_grammar_beyond_pattern(Value tool, Value function) {
  const Value input = member_value(member_value(member_value(function, "parameters"), "properties"), kCustomInput);
  return grammar_in(inside_custom(tool)).is(Kind::dict) && member(input, "pattern") == nullptr;
}

}  // namespace parlance
