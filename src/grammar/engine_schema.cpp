// What may be in a schema that is handed on, keyword by keyword. Begin reading at EngineSchema::write.
#include "grammar/engine_schema.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json/writer.h"
#include "value/dict.h"

namespace parlance::grammar {
namespace {

constexpr int kDeepestSchema = 24;           ///< schemas inside each other
constexpr std::int64_t kMostItems = 64;      ///< a count that every engine takes
constexpr std::size_t kMostConstants = 256;  ///< of an enum

/// Says nothing about values. What is not known may be anything, so it is not here.
bool is_annotation(std::string_view key) {
  for (const std::string_view name : {"title", "description", "default", "examples", "example", "$comment",
                                      "deprecated", "readOnly", "writeOnly", "$defs", "definitions"}) {
    if (key == name) return true;
  }
  return false;
}

class EngineSchema {
 public:
  EngineSchema(Value root, bool open) : root_(root), open_(open) {}
  std::optional<std::string> run() {
    std::string out;
    Json definitions('{');
    if (!write(out, root_, 0)) return std::nullopt;
    for (std::size_t i = 0; i < referred_.size(); ++i) {  // writing one may refer to more
      std::string text;
      if (!write(text, referred_[i], 1)) return std::nullopt;
      definitions.raw(name_of(i), text);
    }
    if (!referred_.empty()) {
      out.pop_back();
      out += std::string(out.size() == 1 ? "" : ", ") + "\"$defs\": " + definitions.take() + "}";
    }
    return out;
  }

 private:
  static std::string name_of(std::size_t number) { return "d" + std::to_string(number); }

  /// Appends the schema; false: it has to be written out.
  bool write(std::string& out, Value schema, int depth) {
    if (schema.is(Kind::boolean) && schema.integer != 0 && depth > 0) return out += "{}", true;
    if (!schema.is(Kind::dict) || depth > kDeepestSchema) return false;
    std::string_view own;  // the keyword that says what kind of schema it is, where it is not `type`
    std::vector<const DictEntry*> rest;
    for (const DictEntry& entry : entries(schema)) {
      const std::string_view key = leaf_text(entry.key);
      if (is_annotation(key)) continue;
      if (key == "enum" || key == "const" || key == "anyOf" || key == "$ref") {
        if (!own.empty()) return false;
        own = key;
      } else {
        rest.push_back(&entry);
      }
    }
    if (own == "enum" || own == "const") return write_constants(out, schema, own, rest);
    if (own.empty()) return write_typed(out, rest, depth);
    if (!rest.empty()) return false;
    return own == "anyOf" ? write_ways(out, member_value(schema, own), depth)
                          : write_reference(out, member_value(schema, own));
  }

  bool write_ways(std::string& out, Value ways, int depth) {
    if (!ways.is_sequence() || items(ways).empty() || items(ways).size() > 64) return false;
    out += R"({"anyOf": [)";
    for (const Value& way : items(ways)) {
      if (&way != items(ways).data()) out += ", ";
      if (!write(out, way, depth + 1)) return false;
    }
    out += "]}";
    return true;
  }

  /// Texts and truth values: numbers and containers have several spellings. A type beside them must be theirs.
  bool write_constants(std::string& out, Value schema, std::string_view key,
                       const std::vector<const DictEntry*>& rest) {
    const Value said = member_value(schema, key);
    const std::vector<Value> one{said};
    if (key == "enum" && (!said.is_sequence() || items(said).empty() || items(said).size() > kMostConstants))
      return false;
    const std::span<const Value> values = key == "enum" ? items(said) : std::span<const Value>(one);
    Json list('[');
    bool texts = true;
    for (const Value& value : values) {
      if (!value.is_leaf()) return false;
      const bool is_text = value.is_string();
      if (!is_text && !value.is(Kind::boolean) && !value.is_none()) return false;
      texts = texts && is_text;
      const std::string_view word = value.is_none() ? "null" : !is_text && value.integer != 0 ? "true" : "false";
      is_text ? list.item_text(leaf_text(value)) : list.item(word);
    }
    for (const DictEntry* entry : rest) {
      const bool fits =
          leaf_text(entry->key) == "type" && entry->value.is_string() && leaf_text(entry->value) == "string" && texts;
      if (!fits) return false;
    }
    out += R"({"enum": )" + list.take() + "}";
    return true;
  }

  bool write_reference(std::string& out, Value reference) {
    if (!reference.is_string()) return false;
    const std::string_view text = leaf_text(reference);
    if (!text.starts_with('#') || text.find('%') != text.npos) return false;
    const Value target = follow(text.substr(1));
    if (!target.is(Kind::dict) || !member_value(target, "$ref").is_undefined()) return false;
    const auto [known, is_new] = numbers_.try_emplace(target.dict, referred_.size());
    if (is_new) referred_.push_back(target);
    out += R"({"$ref": "#/$defs/)" + name_of(known->second) + "\"}";
    return true;
  }

  Value follow(std::string_view pointer) const {
    Value at = root_;
    while (!pointer.empty()) {
      if (pointer[0] != '/' || !at.is(Kind::dict)) return Value();
      pointer.remove_prefix(1);
      std::string step(pointer.substr(0, pointer.find('/')));
      pointer.remove_prefix(step.size());
      for (std::size_t i = 0; (i = step.find('~', i)) != step.npos; ++i) {
        if (i + 1 >= step.size() || (step[i + 1] != '0' && step[i + 1] != '1')) return Value();
        step.replace(i, 2, step[i + 1] == '0' ? "~" : "/");
      }
      at = member_value(at, step);
    }
    return at;
  }

  /// `type` and what belongs to it.
  bool write_typed(std::string& out, const std::vector<const DictEntry*>& keys, int depth) {
    const auto find = [&](std::string_view name) {
      const auto found =
          std::find_if(keys.begin(), keys.end(), [&](const DictEntry* e) { return leaf_text(e->key) == name; });
      return found == keys.end() ? Value() : (*found)->value;
    };
    if (keys.empty()) return out += "{}", true;
    std::vector<std::string_view> types;
    const Value type = find("type");
    if (type.is_string()) types.push_back(leaf_text(type));
    if (type.is_sequence()) {
      for (const Value one : items(type)) types.push_back(one.is_string() ? leaf_text(one) : "");
    }
    bool object = false, array = false;
    for (const std::string_view one : types) {
      constexpr std::string_view kPlain[] = {"string", "integer", "number", "boolean", "null"};
      object = object || one == "object";
      array = array || one == "array";
      if (one != "object" && one != "array" && std::find(std::begin(kPlain), std::end(kPlain), one) == std::end(kPlain))
        return false;
    }
    if (types.empty() || (types.size() > 1 && (object || array))) return false;
    for (const DictEntry* entry : keys) {
      const std::string_view key = leaf_text(entry->key);
      const bool of_object = object && (key == "properties" || key == "required" || key == "additionalProperties");
      const bool of_array = array && (key == "items" || key == "minItems" || key == "maxItems");
      if (key != "type" && !of_object && !of_array) return false;
    }
    out += "{\"type\": " + (types.size() == 1 ? json_string(types.front()) : json_list(types));
    if (object && !write_members(out, find("properties"), find("required"), find("additionalProperties"), depth))
      return false;
    if (array && !write_items(out, find("items"), find("minItems"), find("maxItems"), depth)) return false;
    out += "}";
    return true;
  }

  bool write_members(std::string& out, Value properties, Value required, Value additional, int depth) {
    const bool has_some = properties.is(Kind::dict) && !entries(properties).empty();
    if (!properties.is_undefined() && !properties.is(Kind::dict)) return false;
    if (has_some) {
      out += R"(, "properties": {)";
      for (const DictEntry& entry : entries(properties)) {
        if (&entry != entries(properties).data()) out += ", ";
        out += json_string(leaf_text(entry.key)) + ": ";
        if (!write(out, entry.value, depth + 1)) return false;
      }
      out += "}";
    }
    if (!required.is_undefined()) {
      if (!required.is_sequence()) return false;
      Json names('[');
      for (const Value name : items(required)) {
        if (!name.is_string() || !has_some || member_value(properties, leaf_text(name)).is_undefined()) return false;
        names.item_text(leaf_text(name));
      }
      if (!items(required).empty()) out += ", \"required\": " + names.take();
    }
    const bool closed = additional.is(Kind::boolean) && additional.integer == 0;
    if (closed || (!properties.is_undefined() && !open_ && additional.is_undefined()))
      return out += R"(, "additionalProperties": false)", true;
    // members of other names are apart from the declared ones
    if (additional.is_undefined() || additional.is(Kind::boolean)) return !has_some;
    if (has_some) return false;
    out += R"(, "additionalProperties": )";
    return write(out, additional, depth + 1);
  }

  bool write_items(std::string& out, Value schema, Value min, Value max, int depth) {
    if (!schema.is_undefined()) {
      out += R"(, "items": )";
      if (!write(out, schema, depth + 1)) return false;
    }
    std::int64_t least = 0;
    for (const bool is_min : {true, false}) {
      const Value count = is_min ? min : max;
      if (count.is_undefined()) continue;
      if (!count.is_small_int() || count.integer < least || count.integer > kMostItems) return false;
      least = count.integer;
      out += (is_min ? ", \"minItems\": " : ", \"maxItems\": ") + std::to_string(count.integer);
    }
    return true;
  }

  Value root_;
  bool open_;
  std::vector<Value> referred_;  ///< what was referred to, in the order of their names
  std::unordered_map<const void*, std::size_t> numbers_;
};

}  // namespace

std::unordered_map<NodeId, std::string> engine_schemas(const GrammarData& data) {
  std::unordered_map<NodeId, std::string> texts;
  for (const auto& [node, schema] : data.json) {
    // A tool without a schema takes any object; what a value without one is, its grammar says.
    const bool any = !schema.is(Kind::dict);
    std::optional<std::string> text = EngineSchema(schema, data.options.open).run();
    if (!data.of_value && (any || text == "{}")) text = R"({"type": "object"})";
    const bool fits =
        text && (data.of_value ||
                 text->starts_with(R"({"type": "object")"));  // arguments are an object, whatever the schema says
    if (fits) texts.emplace(node, std::move(*text));
  }
  return texts;
}

}  // namespace parlance::grammar
