// Calls as JSON Schema: a list of {"name": …, "arguments": …}, each tool with its own schema; references inside a
// tool's schema are turned to where it stands now. Begin reading at print_json_schema.
#include "base/format.h"
#include "grammar/printers.h"
#include "json/writer.h"

namespace parlance::grammar {
namespace {

constexpr int kDocumentDepth = 1000;  // as deep as documents are

std::string pointer_step(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '~' ? "~0" : c == '/' ? "~1" : c == '%' ? "%25" : std::string(1, c);
  return out;
}

/// What a value is in a schema. What looks like a reference is one in a schema only; names may be anything.
enum class What { schema, schemas_by_name, data };

What below(What what, std::string_view key) {
  if (what != What::schema) return what == What::data ? What::data : What::schema;
  for (const std::string_view data : {"const", "enum", "default", "examples", "example"}) {
    if (key == data) return What::data;
  }
  for (const std::string_view names : {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}) {
    if (key == names) return What::schemas_by_name;
  }
  return What::schema;
}

/// A reference by a pointer; one by an anchor finds its place wherever the schema stands.
bool is_pointer(std::string_view key, Value value) {
  if ((key != "$ref" && key != "$dynamicRef") || !value.is_string()) return false;
  return leaf_text(value) == "#" || leaf_text(value).starts_with("#/");
}

class Writer {
 public:
  Writer(std::string& out, std::string_view base)
      : out_(out), base_(base), runtime_(arena_, Limits{.depth = kDocumentDepth}) {}
  void write(Value value, What what, int depth) {
    const bool may_refer = what != What::data && depth < kDocumentDepth;
    if (may_refer && value.is(Kind::dict)) return write_dict(value, what, depth);
    if (may_refer && value.is_sequence()) return write_list(value, what, depth);
    write_data(value);
  }

 private:
  /// What has no references is written as it is, and without recursion. Not within the functions that call each other,
  /// whose frames nest as schemas do.
  [[gnu::noinline]] void write_data(Value value) {
    if (!append_json(runtime_, out_, value, kPythonJson)) out_ += "null";
  }
  [[gnu::noinline]] void write_reference(std::string_view pointer) {
    append_json_string(out_, std::string(base_).append(pointer.substr(1)));
  }
  void write_list(Value value, What what, int depth) {
    out_ += '[';
    for (const Value& item : items(value)) {
      if (&item != items(value).data()) out_ += ", ";
      write(item, what, depth + 1);
    }
    out_ += ']';
  }
  void write_dict(Value value, What what, int depth) {
    out_ += '{';
    for (const DictEntry& entry : entries(value)) {
      if (&entry != entries(value).data()) out_ += ", ";
      const std::string_view key = leaf_text(entry.key);
      append_json_string(out_, key);
      out_ += ": ";
      if (what == What::schema && base_ != "#" && is_pointer(key, entry.value)) {
        write_reference(leaf_text(entry.value));
      } else {
        write(entry.value, below(what, key), depth + 1);
      }
    }
    out_ += '}';
  }

  std::string& out_;
  std::string_view base_;
  Arena arena_;
  Runtime runtime_;
};

std::string parameters_of(const Tool& tool, std::string_view base) {
  return tool.parameters.is(Kind::dict) ? json_of(tool.parameters, base) : R"({"type": "object"})";
}

}  // namespace

std::string json_of(Value value, std::string_view base) {
  std::string out;
  Writer(out, base).write(value, What::schema, 0);
  return out;
}

/// Tools' schemas stand in $defs, once each, so that several calls share them and their own references have one base.
std::string print_json_schema(const GrammarData& data) {
  if (data.of_value) return (data.root == data.ir.never() ? "false" : json_of(data.document.root())) + "\n";
  std::string calls, definitions;
  for (const Tool& tool : data.tools) {
    const std::string name = json_string(tool.name);
    const std::string base = "#/$defs/" + pointer_step(tool.name);
    if (!calls.empty()) calls += ", ", definitions += ", ";
    calls += format(R"({{"type": "object", "properties": {{"name": {{"const": {}}}, "arguments": {{"$ref": {}}}}}, )"
                    R"("required": ["name", "arguments"], "additionalProperties": false}})",
                    name, json_string(base));
    definitions += name + ": " + parameters_of(tool, base);
  }
  const bool must = data.options.choice == ToolChoice::required || data.options.choice == ToolChoice::named;
  std::string out = R"({"type": "array")";
  if (calls.empty()) return out.append(R"(, "maxItems": 0})").append("\n");
  out.append(R"(, "items": {"anyOf": [)").append(calls).append("]}");
  if (must) out += R"(, "minItems": 1)";
  const std::uint32_t most = data.parallel ? data.options.max_calls : 1;
  if (most > 0) out.append(R"(, "maxItems": )").append(std::to_string(most));
  return out.append(R"(, "$defs": {)").append(definitions).append("}}\n");
}

}  // namespace parlance::grammar
