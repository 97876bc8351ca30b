// Values: which types a leaf allows, constants; containers go to a list of rules. Begin reading at Schema::value.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "grammar/schema.h"
#include "json/same.h"

namespace parlance::grammar {
namespace {

// The size of the grammar of one request. Past it every further schema allows anything: the grammar stays correct for
// what it has, and a note says where it became wide.
constexpr std::size_t kMostNodes = 400000;
constexpr std::size_t kMostRules = 20000;

/// What nodes cannot express at all.
constexpr std::string_view kUnread[] = {"if",       "dependentRequired",     "dependentSchemas", "dependencies",
                                        "contains", "unevaluatedProperties", "unevaluatedItems"};
/// What else a constant has to hold to.
constexpr std::string_view kBesideConstants[] = {"minLength",         "maxLength",     "pattern",
                                                 "minimum",           "maximum",       "exclusiveMinimum",
                                                 "exclusiveMaximum",  "multipleOf",    "items",
                                                 "prefixItems",       "minItems",      "maxItems",
                                                 "properties",        "required",      "additionalProperties",
                                                 "patternProperties", "propertyNames", "minProperties",
                                                 "maxProperties",     "not",           "format",
                                                 "uniqueItems",       "contains"};

/// The types that `type` names: a name or a list of names. 0 where it names none.
Types types_named(Value names) {
  Types types = 0;
  if (names.is_string()) types = schema::type_named(leaf_text(names));
  if (!names.is_sequence()) return types;
  for (const Value name : items(names)) {
    if (name.is_string()) types |= schema::type_named(leaf_text(name));
  }
  return types;
}

bool is_types(Value v) {
  const auto is_one = [](Value name) { return types_named(name) != 0; };
  return v.is_sequence() ? std::ranges::all_of(items(v), is_one) : is_one(v);
}
bool is_number(Value v) { return v.is(Kind::integer) || v.is(Kind::real); }
bool is_text(Value v) { return v.is_string(); }
bool is_list(Value v) { return v.is_sequence(); }
bool is_object(Value v) { return v.is(Kind::dict); }
bool is_schema(Value v) { return v.is(Kind::dict) || v.is(Kind::boolean); }
bool is_schemas(Value v) { return is_schema(v) || v.is_sequence(); }

/// What a keyword has to be, or it says nothing of any value.
struct KeywordForm {
  std::string_view keyword;
  bool (*fits)(Value);
};
constexpr KeywordForm kForms[] = {
    {"type", is_types},
    {"enum", is_list},
    {"minLength", is_number},
    {"maxLength", is_number},
    {"pattern", is_text},
    {"items", is_schemas},
    {"prefixItems", is_list},
    {"minItems", is_number},
    {"maxItems", is_number},
    {"properties", is_object},
    {"required", is_list},
    {"additionalProperties", is_schema},
    {"patternProperties", is_object},
    {"propertyNames", is_schema},
    {"minProperties", is_number},
    {"maxProperties", is_number},
    {"anyOf", is_list},
    {"oneOf", is_list},
    {"allOf", is_list},
    {"not", is_schema},
};

Types type_of(Value value) {
  switch (value.kind) {
    case Kind::none: return kNull;
    case Kind::boolean: return kBoolean;
    case Kind::integer: return kInteger;
    case Kind::real: return std::isfinite(value.real) && value.real == std::floor(value.real) ? kInteger : kFraction;
    case Kind::string: return kString;
    case Kind::dict: return kObject;
    default: return kArray;
  }
}

}  // namespace

// ---- types

/// In a closed grammar a schema without a type means the one that its other keywords are about.
Types Schema::types(const Leaf& leaf) {
  Types types = kAnyType;
  bool named = false;
  for (const Value schema : leaf.all) {
    if (const Value excluded = get(schema, "not"); excluded.is(Kind::dict) && entries(excluded).size() == 1) {
      types &= ~types_named(get(excluded, "type"));
    }
    const Types here = types_named(get(schema, "type"));
    if (here == 0) continue;
    const Value nullable = get(schema, "nullable");
    types &= here | (nullable.is(Kind::boolean) && nullable.integer != 0 ? kNull : 0);
    named = true;
  }
  if (named || context_.open || has_constants(leaf)) return types;
  const auto has_any = [&](std::initializer_list<std::string_view> keywords) {
    return std::any_of(keywords.begin(), keywords.end(), [&](std::string_view k) { return has(leaf, k); });
  };
  if (has_any({"properties", "required", "additionalProperties", "patternProperties"})) return types & kObject;
  if (has_any({"items", "prefixItems", "minItems", "maxItems"})) return types & kArray;
  if (has_any({"pattern", "minLength", "maxLength", "format"})) return types & kString;
  if (has_any({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})) return types & kNumber;
  return types;
}

/// Constants count as well: {"enum": [1, "a"]} has no `type` and yet only two types.
Types Schema::types_of(const Schemas& schemas) {
  Types all = 0;
  for (const Leaf& leaf : leaves(schemas)) {
    Types here = types(leaf);
    for (const Value schema : leaf.all) {
      const Value constant = get(schema, "const");
      const Value several = get(schema, "enum");
      if (!constant.is_undefined()) here &= type_of(constant);
      if (!several.is_sequence()) continue;
      Types of_several = 0;
      for (const Value one : items(several)) of_several |= type_of(one);
      here &= of_several;
    }
    all |= here;
  }
  return all;
}

// ---- values

/// Any JSON value: a rule that leads back to itself, and so it is registered before its body is made. Tokens are marked
/// for engines with a lexer.
NodeId Schema::any(const Style& style) {
  if (const auto found = any_.find(&style); found != any_.end()) return found->second;
  const RuleId rule = ir_.add_rule("value");
  const NodeId node = ir_.rule(rule);
  any_.emplace(&style, node);
  const auto list = [&](char open, NodeId item, char close) {
    const NodeId more = ir_.repeat(ir_.sequence({style.comma(), item}), 0, kUnbounded);
    return style.bracketed(open, ir_.optional(ir_.sequence({item, more})), close);
  };
  const NodeId member = ir_.sequence({style.key_except({}), node});
  ir_.set_body(rule,
               ir_.choice({list('{', member, '}'), list('[', node, ']'), style.string(), ir_.token(numbers(ir_, {})),
                           style.boolean(true), style.boolean(false), style.null()}));
  return node;
}

/// Leaves are the same whatever their order; the schemas of each are told by where they are.
std::string Schema::key_of(const Style& style, Types allowed, std::span<const Leaf> leaves) const {
  std::string key;
  const auto add = [&key](auto value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(allowed);
  add(&style);
  for (const Leaf& leaf : leaves) {
    std::vector<const void*> all;
    for (const Value schema : leaf.all) all.push_back(schema.dict);
    std::sort(all.begin(), all.end());
    add(all.size());
    for (const void* one : all) add(one);
  }
  return key;
}

/// Two caches in a row. This one is asked with the schemas as they were given and saves taking them apart; make_value's
/// is asked with the leaves and finds schemas that mean the same. Together they keep the size linear where tools refer
/// to one large schema again and again.
NodeId Schema::value(const Style& style, const Schemas& schemas, std::string_view name, Types allowed) {
  Leaf given;
  std::copy_if(schemas.begin(), schemas.end(), std::back_inserter(given.all), [](Value s) { return s.is(Kind::dict); });
  const bool all_dicts = given.all.size() == schemas.size();
  std::string key = key_of(style, allowed, {&given, 1});
  if (const auto asked = asked_.find(key); all_dicts && asked != asked_.end()) return asked->second;
  const NodeId node = make_value(style, leaves(schemas), name, allowed);
  if (all_dicts) asked_.emplace(std::move(key), node);
  return node;
}

/// Containers become a rule and a task, all else is made at once. A value that is constants alone needs no rule even if
/// some are containers, since constants do not refer to anything.
NodeId Schema::make_value(const Style& style, std::vector<Leaf> found, std::string_view name, Types allowed) {
  if (found.empty()) return ir_.never();
  if (found[0].all.empty() && allowed == kAnyType) return any(style);
  std::string key = key_of(style, allowed, found);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  Types types_here = 0;
  for (const Leaf& leaf : found) types_here |= types(leaf);
  const bool constants_only =
      std::all_of(found.begin(), found.end(), [this](const Leaf& leaf) { return has_constants(leaf); });
  const bool nests = (types_here & allowed & (kArray | kObject)) != 0 && !constants_only;
  if (!context_.shared.spend(1) || ir_.size() > kMostNodes || ir_.rules().size() > kMostRules) {
    note(found[0].all.empty() ? context_.document.root() : found[0].all[0], "",
         "the schemas are too large: any value from here on");
    return any(style);
  }
  NodeId node = kNone;
  if (nests) {
    const RuleId rule = ir_.add_rule(name);
    node = ir_.rule(rule);
    tasks_.push_back({rule, &style, std::move(found), allowed, std::string(name)});
  } else {
    std::vector<NodeId> ways;
    for (const Leaf& leaf : found) ways.push_back(body(style, leaf, allowed, name));
    node = ir_.choice(ways);
  }
  known_.emplace(std::move(key), node);
  return node;
}

void Schema::make_rules() {
  while (!tasks_.empty()) {
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    std::vector<NodeId> ways;
    for (const Leaf& leaf : task.leaves) ways.push_back(body(*task.style, leaf, task.types, task.name));
    ir_.set_body(task.rule, ir_.choice(ways));
  }
}

/// A keyword that is not held to widens the grammar. The user must be told, since an engine's output may then fail the
/// validation that the tool makes.
void Schema::note_unread(const Leaf& leaf) {
  for (const Value schema : leaf.all) {
    for (const std::string_view keyword : kUnread) {
      if (!get(schema, keyword).is_undefined()) note(schema, keyword, "not held to");
    }
    for (const KeywordForm& form : kForms) {
      const Value said = get(schema, form.keyword);
      if (!said.is_undefined() && !said.is_none() && !form.fits(said))
        note(schema, form.keyword, "of no form that a schema can have: not held to");
    }
    const Value excluded = get(schema, "not");
    const bool by_type =
        excluded.is(Kind::dict) && entries(excluded).size() == 1 && types_named(get(excluded, "type")) != 0;
    if (!excluded.is_undefined() && !by_type) note(schema, "not", "not held to");
  }
}

NodeId Schema::body(const Style& style, const Leaf& leaf, Types allowed, std::string_view name) {
  NodeId node = kNone;
  if (constants(style, leaf, allowed, node)) return node;
  note_unread(leaf);
  const Types types_here = types(leaf) & allowed;
  if (types_here == kAnyType && leaf.all.empty()) return any(style);
  std::vector<NodeId> ways;
  const auto add = [&](Types type, NodeId way) {
    if ((types_here & type) != 0) ways.push_back(way);
  };
  if ((types_here & kObject) != 0) ways.push_back(object(style, leaf, name));
  if ((types_here & kArray) != 0) ways.push_back(array(style, leaf, name));
  if ((types_here & kString) != 0) ways.push_back(string(style, leaf));
  if ((types_here & kNumber) != 0) ways.push_back(ir_.token(number(leaf, types_here)));
  add(kBoolean, style.boolean(true));
  add(kBoolean, style.boolean(false));
  add(kNull, style.null());
  return ir_.choice(ways);
}

// ---- constants

/// Recursion is bounded by the depth to which documents are read. A real without a fraction is written 1 or 1.0, which
/// JSON Schema holds equal; an integer is written in one way.
std::optional<NodeId> Schema::constant(const Style& style, Value value) {
  const auto list = [&](char open, std::vector<NodeId> parts, char close) {
    std::vector<NodeId> all{style.open(open)};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) all.push_back(style.comma());
      all.push_back(parts[i]);
    }
    all.push_back(style.close(close));
    return ir_.sequence(all);
  };
  std::vector<NodeId> parts;
  switch (type_of(value)) {
    case kNull: return style.null();
    case kBoolean: return style.boolean(value.integer != 0);
    case kString: return style.constant(leaf_text(value));
    case kArray:
      for (const Value item : items(value)) {
        const auto node = constant(style, item);
        if (!node) return std::nullopt;
        parts.push_back(*node);
      }
      return list('[', std::move(parts), ']');
    case kObject:
      for (const DictEntry& entry : entries(value)) {
        const auto key = style.key(leaf_text(entry.key));
        const auto node = constant(style, entry.value);
        if (!key || !node) return std::nullopt;
        parts.push_back(ir_.sequence({*key, *node}));
      }
      return list('{', std::move(parts), '}');
    default: break;
  }
  const std::optional<Decimal> number = decimal_of(value);
  if (!number) return std::nullopt;
  const std::string whole = (number->negative ? "-" : "") + number->whole;
  if (!number->is_integer()) return ir_.token(ir_.literal(whole + "." + number->fraction));
  if (value.is(Kind::integer)) return ir_.token(ir_.literal(whole));
  return ir_.token(ir_.choice({ir_.literal(whole), ir_.literal(whole + ".0")}));
}

bool Schema::has_constants(const Leaf& leaf) const {
  return std::any_of(leaf.all.begin(), leaf.all.end(), [this](Value schema) {
    return !get(schema, "const").is_undefined() || get(schema, "enum").is_sequence();
  });
}

/// Whether the leaf has constants; the node is then any of those that all of them allow.
bool Schema::constants(const Style& style, const Leaf& leaf, Types allowed, NodeId& node) {
  if (!has_constants(leaf)) return false;
  std::optional<std::vector<Value>> values;
  const auto take = [&](std::span<const Value> list) {
    if (!values) {
      values.emplace(list.begin(), list.end());
    } else if (context_.shared.spend(values->size() * list.size() / 8)) {
      std::erase_if(*values, [&](Value v) {
        return std::none_of(list.begin(), list.end(), [&](Value w) { return same_json(v, w); });
      });
    } else {
      note(leaf.all[0], "enum", "too many values beside others");
    }
  };
  for (const Value schema : leaf.all) {
    const Value one = get(schema, "const");
    const Value several = get(schema, "enum");
    if (!one.is_undefined()) take(std::span(&one, 1));
    if (several.is_sequence()) take(items(several));
  }
  const Types types_here = types(leaf) & allowed;
  std::vector<NodeId> ways;
  for (const Value value : *values) {
    if ((type_of(value) & types_here) == 0) continue;
    const auto way = constant(style, value);
    if (!way) note(leaf.all[0], "enum", "a value that this format cannot write is left out", true);
    if (way) ways.push_back(*way);
  }
  for (const std::string_view keyword : kBesideConstants) {
    if (has(leaf, keyword)) note(leaf.all[0], keyword, "not held to beside constants");
  }
  note_unread(leaf);
  const bool tokens = std::all_of(ways.begin(), ways.end(), [this](NodeId way) { return Ir::is_token(ir_.node(way)); });
  if (tokens)
    std::transform(ways.begin(), ways.end(), ways.begin(), [this](NodeId way) { return ir_.inside_token(way); });
  node = tokens ? ir_.token(ir_.factored(ways)) : ir_.choice(ways);
  return true;
}

}  // namespace parlance::grammar
