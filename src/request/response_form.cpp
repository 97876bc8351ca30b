// The form of an answer in the spellings of the APIs: a row for each place where a request may say it. Begin reading at
// response_of.
#include "request/response_form.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "json/json.h"
#include "parlance/json.h"
#include "value/dict.h"

namespace parlance {
namespace {

using Form = ResponseFormat::Kind;

Error no_form(std::string_view path, std::string message = "this is not a valid response format") {
  return Error(ErrorCode::conversation, std::move(message))
      .input(std::string(path))
      .hint(R"({"type": "json_schema", "json_schema": {"schema": {…}}}, {"type": "json_object"} or {"type": "text"})");
}

using Found = Result<std::optional<ResponseFormat>>;

// ---- what no schema says, and a grammar would take for any JSON

constexpr std::string_view kTypes[] = {"array", "boolean", "integer", "null", "number", "object", "string"};
/// Members of a schema that are a schema, or a list of schemas; then those that are schemas by names.
constexpr std::string_view kInner[] = {"items",
                                       "prefixItems",
                                       "additionalItems",
                                       "contains",
                                       "propertyNames",
                                       "unevaluatedItems",
                                       "unevaluatedProperties",
                                       "additionalProperties",
                                       "allOf",
                                       "anyOf",
                                       "oneOf",
                                       "not",
                                       "if",
                                       "then",
                                       "else"};
constexpr std::string_view kNamed[] = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"};
constexpr int kDepth = 128;  // a schema that is deeper is a grammar's to refuse

Result<void> check_schema(Value schema, const std::string& path, int depth);

Result<void> check_type(Value type, const std::string& path) {
  if (type.is_undefined() || type.is_none()) return {};
  const auto is_known = [](Value one) {
    return one.is_string() && std::ranges::find(kTypes, leaf_text(one)) != std::end(kTypes);
  };
  if (type.is_sequence() ? std::ranges::all_of(items(type), is_known) : is_known(type)) return {};
  return Error(ErrorCode::conversation, "this is no type of JSON Schema")
      .input(path)
      .hint(
          "array, boolean, integer, null, number, object or string, or a list of them; without a type all are allowed");
}

Result<void> check_inner(Value inner, const std::string& path, int depth) {
  if (!inner.is_sequence()) return inner.is(Kind::dict) ? check_schema(inner, path, depth) : Result<void>();
  std::size_t number = 0;
  for (const Value one : items(inner)) {
    if (auto checked = check_schema(one, path + "[" + std::to_string(number++) + "]", depth); !checked) return checked;
  }
  return {};
}

Result<void> check_schema(Value schema, const std::string& path, int depth) {
  if (schema.is(Kind::boolean) || depth > kDepth) return {};
  if (!schema.is(Kind::dict)) return Error(ErrorCode::conversation, "a schema is an object, true or false").input(path);
  if (auto checked = check_type(member_value(schema, "type"), path + ".type"); !checked) return checked;
  for (const std::string_view name : kInner) {
    const Value inner = member_value(schema, name);
    if (inner.is_undefined()) continue;
    if (auto checked = check_inner(inner, path + "." + std::string(name), depth + 1); !checked) return checked;
  }
  for (const std::string_view name : kNamed) {
    const Value named = member_value(schema, name);
    if (!named.is(Kind::dict)) continue;
    for (const DictEntry& one : entries(named)) {
      const std::string at = path + "." + std::string(name) + "." + std::string(leaf_text(one.key));
      if (auto checked = check_schema(one.value, at, depth + 1); !checked) return checked;
    }
  }
  return {};
}

/// A schema, as an object or as its text.
Found schema_in(Value value, std::string_view path) {
  ResponseFormat format;
  format.kind = Form::json_schema;
  format.name = path;
  const bool is_schema = value.is(Kind::dict) || value.is(Kind::boolean);
  if (!is_schema && !value.is_string()) return no_form(path);
  format.schema = is_schema ? json_text(value) : std::string(leaf_text(value));
  Document schema;
  if (Result<void> parsed = is_schema ? Result<void>() : schema.parse(format.schema, path); !parsed)
    return Error(parsed.error()).input(std::string(path));
  if (auto checked = check_schema(is_schema ? value : schema.root(), std::string(path), 0); !checked)
    return checked.error();
  return std::optional(std::move(format));
}

Found pattern_in(Value value, std::string_view path) {
  if (!value.is_string()) return no_form(path);
  ResponseFormat format;
  format.kind = Form::regex;
  format.pattern = leaf_text(value);
  format.name = path;
  return std::optional(std::move(format));
}

Found choice_in(Value value, std::string_view path) {
  if (!value.is_sequence()) return no_form(path);
  ResponseFormat format;
  format.kind = Form::choice;
  format.name = path;
  for (const Value one : items(value)) {
    if (!one.is_string()) return no_form(path);
    format.choices.emplace_back(leaf_text(one));
  }
  return std::optional(std::move(format));
}

/// Any object. `false` is vLLM's way to say no.
Found object_in(Value value, std::string_view path) {
  if (value.is(Kind::boolean) && value.integer == 0) return std::optional<ResponseFormat>();
  ResponseFormat format;
  format.kind = Form::json_object;
  format.name = path;
  return std::optional(std::move(format));
}

/// {"type": "text" | "json_object" | "json_schema" | "regex", …}
Found typed_in(Value value, std::string_view path) {
  const Value type = member_value(value, "type");
  const std::string_view word = type.is_string() ? leaf_text(type) : std::string_view();
  const Value schema = member_value(value, "schema");
  if (word == "text") return std::optional<ResponseFormat>();
  if (word == "json_object")
    return schema.is_undefined() ? object_in(Value(), path) : schema_in(schema, std::string(path) + ".schema");
  if (word == "regex") return pattern_in(member_value(value, "pattern"), std::string(path) + ".pattern");
  if (word != "json_schema") return no_form(path);
  const Value wrapped = member_value(value, "json_schema");
  const bool is_chat = path == "response_format" && schema.is_undefined();  // as OpenAI's chat has it
  if (!wrapped.is(Kind::dict) && is_chat) return Found(no_form(std::string(path) + ".json_schema"));
  if (!wrapped.is(Kind::dict)) return schema_in(schema, std::string(path) + ".schema");
  const Value inner = member_value(wrapped, "schema");
  if (inner.is_undefined()) return object_in(Value(), path);  // any object, as the API has it
  return schema_in(inner, std::string(path) + ".json_schema.schema");
}

/// Ollama's: "json", or a schema.
Found word_or_schema_in(Value value, std::string_view path) {
  if (value.is(Kind::dict) || value.is(Kind::boolean)) return schema_in(value, path);
  if (value.is_string() && leaf_text(value) == "json") return object_in(Value(), path);
  if (value.is_string() && leaf_text(value).empty()) return std::optional<ResponseFormat>();
  return no_form(path).hint(R"("json", or a JSON Schema)");
}

/// Where a request may say the form of its answer, and what reads it there. Two places at once are an error and no
/// race: which of them a server would follow is not known.
struct Place {
  std::string_view path;
  Found (*read)(Value value, std::string_view path);
};
constexpr Place kPlaces[] = {
    {"response_format", typed_in},  // OpenAI's chat completions, vLLM, llama.cpp
    {"text.format", typed_in},      // OpenAI's responses
    {"output_format", typed_in},    // Anthropic's messages
    {"output_config.format", typed_in},
    {"format", word_or_schema_in},           // Ollama
    {"structured_outputs.json", schema_in},  // vLLM
    {"structured_outputs.regex", pattern_in},
    {"structured_outputs.choice", choice_in},
    {"structured_outputs.json_object", object_in},
    {"guided_json", schema_in},  // vLLM before
    {"guided_regex", pattern_in},
    {"guided_choice", choice_in},
    {"json_schema", schema_in},  // llama.cpp, SGLang
    {"regex", pattern_in},       // SGLang
};

Value at(Value request, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Value outer = member_value(request, path.substr(0, dot));
  return dot == path.npos ? outer : member_value(outer, path.substr(dot + 1));
}

}  // namespace

Result<ResponseFormat> response_of(Value request) {
  ResponseFormat wanted;
  std::string_view said;
  for (const Place& place : kPlaces) {
    const Value value = at(request, place.path);
    if (value.is_undefined() || value.is_none()) continue;
    const Found found = place.read(value, place.path);
    if (!found) return found.error();
    if (!*found) continue;
    if (!said.empty())
      return no_form(place.path, "the request asks for a form of the answer in `" + std::string(said) + "` already");
    said = place.path;
    wanted = **found;
  }
  return wanted;
}

}  // namespace parlance
