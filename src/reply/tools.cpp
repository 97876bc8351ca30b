// Reading the tools of a request: JSON Schemas become the types that a value may have. Begin reading at
// SchemaReader::read.
//
// A reference is followed to its place in the tool's parameters; what is no schema, or refers to nothing, says nothing.
#include "reply/tools.h"

#include "conversation/custom_tool.h"
#include "json/document.h"
#include "parlance/json.h"
#include "schema/references.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace reply {
namespace {

using Node = Types::Node;
using Schema = Types::Schema;

/// Schemas come from clients. Types deeper than this are unknown, which means that any value is good.
constexpr std::uint32_t kDeepest = 64;
constexpr std::size_t kMostMembers = 4096;
/// Members that are merged in all of a request's tools. A hostile schema refers to one of many members again and again;
/// past this, members stay unknown, which means that any value is good.
constexpr std::uint32_t kMostMerged = 1 << 18;

/// A schema becomes a node before its parts are read, so a schema that refers to itself finds the node and stops. While
/// it is being made the node allows any type, which is right for a cycle: a reference to oneself says nothing.
class SchemaReader {
 public:
  /// `merges_left`: how many members may still be merged, for all tools together.
  SchemaReader(Types& types, std::uint32_t& merges_left, Value root)
      : types_(types), merges_left_(merges_left), references_(root) {}

  Node read(Value schema) {
    if (!schema.is(Kind::dict) || depth_ == kDeepest) return Types::kUnknown;
    const auto [there, is_new] = made_.emplace(schema.dict, static_cast<Node>(types_.nodes_.size()));
    const Node node = there->second;
    if (!is_new) return node;
    types_.nodes_.emplace_back();
    ++depth_;
    // By value: nodes_ may move while the parts are read.
    Schema made = make(schema);
    --depth_;
    types_.nodes_[node] = std::move(made);
    return node;
  }

 private:
  /// JSON Schema lets all keywords of one schema count together (an intersection), and the alternatives of anyOf and
  /// oneOf count alone (a union). What is asked here is only which types a text may stand for, so oneOf is like anyOf.
  Schema make(Value schema) {
    Schema made;
    read_types(schema, made);
    read_members(schema, made);
    if (const Value* reference = parlance::member(schema, "$ref"); reference != nullptr && reference->is_string()) {
      if (const Value target = references_.resolve(leaf_text(*reference)); !target.is_undefined())
        both(made, types_[read(target)]);
    }
    if (const Value* all = parlance::member(schema, "allOf"); all != nullptr && all->is_sequence()) {
      for (const Value one : items(*all)) {
        const Types::Node node = read(one);  // before types_ is looked at, since it grows
        both(made, types_[node]);
      }
    }
    for (const std::string_view key : {"anyOf", "oneOf"}) {
      const Value* any = parlance::member(schema, key);
      if (any == nullptr || !any->is_sequence() || items(*any).empty()) continue;
      const Types::Node first = read(items(*any)[0]);
      Schema united = types_[first];
      for (const Value one : items(*any).subspan(1)) {
        const Types::Node node = read(one);
        either(united, types_[node]);
      }
      both(made, united);
    }
    // OpenAPI 3.0's word for what JSON Schema says as `"type": ["string", "null"]`. It comes last, since it widens.
    const Value* nullable = parlance::member(schema, "nullable");
    if (nullable != nullptr && nullable->is(Kind::boolean) && nullable->integer != 0) made.types |= Types::kNull;
    return made;
  }

  static void add_value(Value v, std::uint8_t& types, bool& null_text) {
    types |= type_of_value(v);
    null_text = null_text || (v.is_string() && leaf_text(v) == "null");
  }

  /// An enum narrows the types. Where it contradicts `type`, the author erred in one of them, and `type` stands.
  static void read_types(Value schema, Schema& made) {
    made.types = types_named(parlance::member(schema, "type"));
    std::uint8_t values = 0;
    if (const Value* constant = parlance::member(schema, "const")) add_value(*constant, values, made.null_text);
    if (const Value* all = parlance::member(schema, "enum"); all != nullptr && all->is_sequence()) {
      for (const Value one : items(*all)) add_value(one, values, made.null_text);
    }
    if ((values & made.types) != 0) made.types &= values;
  }

  void read_members(Value schema, Schema& made) {
    // Many tools leave `type` out where `properties` or `items` make it plain. JSON Schema would allow every other type
    // there, but then a text that looks like an object would stay a text.
    const bool any = made.types == Types::kAny;
    if (const Value* members = parlance::member(schema, "properties"); members != nullptr && members->is(Kind::dict)) {
      for (const DictEntry& entry : entries(*members))
        made.members[std::string(leaf_text(entry.key))] = read(entry.value);
      if (any) made.types = Types::kObject;
    }
    if (const Value* others = parlance::member(schema, "additionalProperties")) made.others = read(*others);
    if (const Value* all = parlance::member(schema, "items")) {
      made.items = read(*all);
      if (any) made.types = Types::kArray;
    }
  }

  void add_members(Schema& to, const Schema& from) {
    for (const auto& [key, node] : from.members) {
      if (merges_left_ == 0) break;
      --merges_left_;
      if (to.members.size() < kMostMembers) to.members.emplace(key, node);
    }
    if (to.items == Types::kUnknown) to.items = from.items;
    if (to.others == Types::kUnknown) to.others = from.others;
    to.null_text = to.null_text || from.null_text;
  }
  /// What both allow; if that is nothing, what the first does.
  void both(Schema& to, const Schema& from) {
    if ((to.types & from.types) != 0) to.types &= from.types;
    add_members(to, from);
  }
  void either(Schema& to, const Schema& from) {
    to.types |= from.types;
    add_members(to, from);
  }

  Types& types_;
  std::uint32_t& merges_left_;
  schema::References references_;
  std::map<const DictObject*, Node> made_;
  std::uint32_t depth_ = 0;
};

}  // namespace

std::uint8_t types_named(const Value* type) {
  // A word that is no type must not refuse values: the schema is the client's, and its dialect may know the word.
  const auto named = [](Value word) {
    const std::uint8_t types = word.is_string() ? schema::type_named(leaf_text(word)) : std::uint8_t{0};
    return types == 0 ? Types::kAny : types;
  };
  if (type == nullptr) return Types::kAny;
  if (!type->is_sequence()) return named(*type);
  std::uint8_t types = 0;
  for (const Value one : items(*type)) types |= named(one);
  return types == 0 ? Types::kAny : types;
}

std::uint8_t type_of_value(Value v) {
  switch (v.kind) {
    case Kind::string: return Types::kString;
    case Kind::integer: return Types::kInteger;
    case Kind::real: return Types::kReal;
    case Kind::boolean: return Types::kBoolean;
    case Kind::dict: return Types::kObject;
    case Kind::none: return Types::kNull;
    default: return Types::kArray;
  }
}

/// As in JSON Schema, additionalProperties counts for keys that `properties` does not name.
Node Types::member(Node of, std::string_view key) const {
  const Schema& schema = nodes_[of];
  const auto there = schema.members.find(key);
  return there == schema.members.end() ? schema.others : there->second;
}

std::uint8_t type_of_json(std::string_view json) {
  switch (json.empty() ? 0 : json.front()) {
    case '{': return Types::kObject;
    case '[': return Types::kArray;
    case '"': return Types::kString;
    case 't':
    case 'f': return Types::kBoolean;
    case 'n': return Types::kNull;
    default: break;
  }
  return json.find_first_of(".eE") == json.npos ? Types::kInteger : Types::kReal;
}

std::string names_of_types(std::uint8_t types) {
  constexpr std::pair<std::uint8_t, std::string_view> kNames[] = {{Types::kInteger, "an integer"},
                                                                  {Types::kBoolean, "true or false"},
                                                                  {Types::kObject, "an object"},
                                                                  {Types::kArray, "a list"},
                                                                  {Types::kNull, "null"}};
  // Text in tags is a string if nothing else fits, so what is asked for is named without it.
  if ((types | Types::kString) == Types::kAny) return "a value of JSON";
  std::string out;
  if ((types & Types::kReal) != 0) {
    out = "a number";
    types &= static_cast<std::uint8_t>(~Types::kInteger);
  }
  for (const auto& [type, name] : kNames) {
    if ((types & type) != 0) out.append(out.empty() ? "" : " or ").append(name);
  }
  return out;
}

bool declares_beginning(const ReplyTools& tools, std::string_view begin) {
  const std::shared_ptr<const DeclaredTools>& data = inside_of(tools);
  if (data == nullptr) return false;
  const auto first = data->tools.lower_bound(begin);
  return first != data->tools.end() && first->first.starts_with(begin);
}

Error no_list_of_tools(std::string_view name) {
  return Error(ErrorCode::conversation, "tools are a list")
      .input(std::string(name))
      .hint("give what stands under `tools` in a request, not the request");
}

}  // namespace reply

Result<ReplyTools> ReplyTools::from_json(std::string_view tools, std::string_view name) {
  auto data = std::make_shared<reply::DeclaredTools>();
  Document& document = data->document;
  if (auto parsed = document.parse(tools, name); !parsed) return parsed.error();
  if (!document.root().is_sequence()) return reply::no_list_of_tools(name);
  const Limits limits;
  Runtime rt(inside_of(document).arena(), limits);
  std::uint32_t merges_left = reply::kMostMerged;
  for (const Value item : items(document.root())) {
    // Clients write tools in three forms: {"type": "function", "function": {…}}, the function alone, and with
    // input_schema in place of parameters. A custom tool takes one text and gets the schema of an object with it.
    const Value* function = member(item, "function");
    const Value custom = function_of_custom(rt, item);
    const Value tool = custom.is(Kind::dict)                             ? custom
                       : function != nullptr && function->is(Kind::dict) ? *function
                                                                         : item;
    const Value* called = member(tool, "name");
    if (called == nullptr || !called->is_string()) continue;
    const Value* parameters = member(tool, "parameters");
    if (parameters == nullptr) parameters = member(tool, "input_schema");
    const reply::Types::Node node = parameters == nullptr
                                        ? reply::Types::kUnknown
                                        : reply::SchemaReader(data->types, merges_left, *parameters).read(*parameters);
    const std::string text(leaf_text(*called));
    const bool first = data->tools.emplace(text, node).second;
    const bool is_custom = custom.is(Kind::dict);
    // A name that a function and a custom tool share is not custom, since a call may mean the function.
    if (is_custom || !first) data->custom.emplace(text, first && is_custom).first->second &= is_custom;
    if (first && parameters != nullptr) data->parameters.emplace(text, *parameters);
    if (!first) data->parameters.erase(text);  // which of them is meant, nobody knows
  }
  ReplyTools made;
  made.data_ = std::move(data);
  return made;
}

bool ReplyTools::is_custom(std::string_view name) const {
  if (data_ == nullptr) return false;
  const auto found = data_->custom.find(name);
  return found != data_->custom.end() && found->second;
}

bool ReplyTools::declares(std::string_view name) const {
  return data_ != nullptr && data_->tools.find(name) != data_->tools.end();
}

/// Their text, its values, and the types that were made of them.
std::size_t ReplyTools::bytes() const {
  constexpr std::size_t kOfByte = 4;
  return data_ == nullptr ? 0 : sizeof(reply::DeclaredTools) + kOfByte * inside_of(data_->document).text_bytes();
}

}  // namespace parlance
