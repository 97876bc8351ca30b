// Begin reading at check_tools_shape.
#include "serve/fronts/shapes/tool_shape.h"

#include <algorithm>
#include <string>

#include "serve/fronts/shapes/shape.h"

namespace parlance::serve {

namespace {

/// Where the APIs have the schema of a call's arguments.
constexpr std::string_view kSchemas[] = {"parameters", "input_schema"};

bool is_type_of_objects(Value type) {
  const std::span<const Value> types = type.items();
  return type.text() == "object" ||
         std::any_of(types.begin(), types.end(), [](Value one) { return one.text() == "object"; });
}

Result<void> check_schema(Value schema, const std::string& path) {
  if (!is_given(schema)) return {};
  if (!schema.is(Kind::dict)) return misshapen(path, "an object");
  if (!is_given(schema["type"]) || is_type_of_objects(schema["type"])) return {};
  return misshapen(path + ".type", "'object', since the arguments of a call are an object");
}

Result<void> check_function(Value function, const std::string& path) {
  if (!function.is(Kind::dict)) return misshapen(path, "an object");
  if (function["name"].text().empty()) return misshapen(path + ".name", "the name of the tool");
  for (const std::string_view name : kSchemas) {
    if (Result<void> checked = check_schema(function[name], path + "." + std::string(name)); !checked) return checked;
  }
  return {};
}

/// Functions of OpenAI's chats and of Ollama are in a member of their own, as tools that take text are in OpenAI's
/// chats. Anthropic's tools have no type, or "custom".
Result<void> check_tool(Value tool, const std::string& path) {
  if (!tool.is(Kind::dict)) return misshapen(path, "an object");
  const Value type = tool["type"];
  if (is_given(type) && !type.is_string()) return misshapen(path + ".type", "a string");
  for (const std::string_view name : {"function", "custom"})
    if (is_given(tool[name])) return check_function(tool[name], path + "." + std::string(name));
  const bool is_called = !is_given(type) || type.text() == "function" || type.text() == "custom";
  return is_called ? check_function(tool, path) : Result<void>();
}

}  // namespace

Result<void> check_tools_shape(Value body) {
  Result<void> checked = check_each(body["tools"], "tools", "a list of tools", check_tool);
  return checked ? check_each(body["functions"], "functions", "a list of functions", check_function) : checked;
}

}  // namespace parlance::serve
