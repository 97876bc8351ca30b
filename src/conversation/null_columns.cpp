// Nulls that a table of data has put into tools and calls; see passes_for_templates.h. A table (Arrow, Parquet, the
// package datasets) gives each row all members that any row has: a call of one function gets the arguments of another,
// and a tool its parameters, all of them null. A model would learn to write them.
//
// Begin reading at null_columns.
#include <algorithm>
#include <vector>

#include "conversation/pass.h"
#include "conversation/passes_for_templates.h"

namespace parlance::passes {
namespace {

/// Members of a schema whose names are the author's.
constexpr std::string_view kNamed[] = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"};
/// Members of a schema that hold values, in which null may be meant.
constexpr std::string_view kValues[] = {"const", "default", "enum", "example", "examples"};
/// Members that may be null.
constexpr std::string_view kMayBeNull[] = {"const", "default", "example"};
/// Members of a function that may be null: templates that read them would fail where they are missing.
constexpr std::string_view kOfFunction[] = {"description", "parameters"};
/// Members of a schema that may declare more than its `properties` and `items` do.
constexpr std::string_view kDeclareMore[] = {"$dynamicRef",
                                             "$ref",
                                             "allOf",
                                             "anyOf",
                                             "dependencies",
                                             "dependentSchemas",
                                             "else",
                                             "if",
                                             "not",
                                             "oneOf",
                                             "patternProperties",
                                             "prefixItems",
                                             "propertyNames",
                                             "then",
                                             "unevaluatedProperties"};

constexpr int kDeepest = 64;  // what nests deeper stays as it is

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// A place in a tool: of an object with the author's own names every null is left out.
struct SchemaPlace {
  bool own_names = false;
  int depth = 0;
  bool in_tool = false;  ///< the tool itself or its function, above all schemas

  bool drops(const DictEntry& member) const {
    const std::string_view name = leaf_text(member.key);
    const bool may_be_null = is_in(kMayBeNull, name) || (in_tool && is_in(kOfFunction, name));
    return member.value.is_none() && (own_names || !may_be_null);
  }
  SchemaPlace inside(const DictEntry& member) const {
    const std::string_view name = leaf_text(member.key);
    const bool is_value = !own_names && is_in(kValues, name);
    return {!own_names && is_in(kNamed, name), is_value ? kDeepest : depth + 1, in_tool && name == "function"};
  }
};
constexpr SchemaPlace kTool{.in_tool = true};

bool has_null(Value schema, SchemaPlace at) {
  if (at.depth >= kDeepest) return false;
  if (schema.kind == Kind::dict)
    return std::ranges::any_of(
        entries(schema), [&](const DictEntry& one) { return at.drops(one) || has_null(one.value, at.inside(one)); });
  return schema.kind == Kind::list &&
         std::ranges::any_of(std::span(schema.list->items, schema.list->size), [&](Value one) {
           return has_null(one, {false, at.depth + 1});
         });
}

Value without_nulls(Runtime& rt, Value schema, SchemaPlace at) {
  if (!has_null(schema, at)) return schema;
  if (schema.kind == Kind::list) {
    ListEditor list(rt, schema);
    for (std::uint32_t i = 0; i < list.size(); ++i) list.set(i, without_nulls(rt, list[i], {false, at.depth + 1}));
    return list.finish();
  }
  DictBuilder kept(rt, schema.dict->size);
  for (const DictEntry& one : entries(schema))
    if (!at.drops(one)) kept.set(one.key, without_nulls(rt, one.value, at.inside(one)));
  return with_origin(kept.finish(), schema.dict->origin);
}

bool is_same(Value one, Value other) {
  if (one.kind == Kind::dict) return one.dict == other.dict;
  return one.kind != Kind::list || one.list == other.list;
}

/// May other members of a schema than `properties` and `items` say what there is?
bool declares_more(Value schema) {
  return std::ranges::any_of(kDeclareMore, [&](std::string_view name) {
    const Value said = member_value(schema, name);
    return !said.is_undefined() && !said.is_none();
  });
}

/// Members that an object's schema does not have. What it has may well be null, and any member where others may be.
struct UndeclaredMembers {
  Value properties;
  bool may_have_others;

  explicit UndeclaredMembers(Value schema) : properties(member_value(schema, "properties")) {
    const Value others = member_value(schema, "additionalProperties");
    const bool has_none = others.is_undefined() || others.is_none() || (others.is(Kind::boolean) && !others.integer);
    may_have_others = !has_none;
  }
  bool drops(const DictEntry& argument) const {
    return argument.value.is_none() && !may_have_others && member(properties, leaf_text(argument.key)) == nullptr;
  }
};

/// Arguments without those that are null and not declared, also in objects and lists of them.
Value declared_alone(Runtime& rt, Value value, Value schema, int depth = 0) {
  if (depth >= kDeepest || schema.kind != Kind::dict || declares_more(schema)) return value;
  if (value.kind == Kind::list) {
    ListEditor list(rt, value);
    for (std::uint32_t i = 0; i < list.size(); ++i) {
      const Value old = list[i], made = declared_alone(rt, old, member_value(schema, "items"), depth + 1);
      if (!is_same(made, old)) list.set(i, made);
    }
    return list.changed() ? list.finish() : value;
  }
  const UndeclaredMembers undeclared(schema);
  if (value.kind != Kind::dict || undeclared.properties.kind != Kind::dict) return value;
  bool changes = false;
  DictBuilder kept(rt, value.dict->size);
  for (const DictEntry& one : entries(value)) {
    if (undeclared.drops(one)) {
      changes = true;
      continue;
    }
    const Value made =
        declared_alone(rt, one.value, member_value(undeclared.properties, leaf_text(one.key)), depth + 1);
    changes = changes || !is_same(made, one.value);
    kept.set(one.key, made);
  }
  return changes ? with_origin(kept.finish(), value.dict->origin) : value;
}

/// The schema of a function's arguments; undefined if no tool has that name.
Value parameters_of(Value tools, Value name) {
  if (!name.is_leaf() || tools.kind != Kind::list) return {};
  for (const Value tool : std::span(tools.list->items, tools.list->size)) {
    const Value function = member_value(tool, "function");
    if (function.kind == Kind::dict && is_text(member(function, "name"), leaf_text(name)))
      return member_value(function, "parameters");
  }
  return {};
}

void clean_tools(Normaliser& n, Value tools) {
  ListEditor list(n.rt, tools);
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    if (!has_null(list[i], kTool)) continue;
    list.set(i, without_nulls(n.rt, list[i], kTool));
    n.tool = static_cast<std::int32_t>(i);
    n.note();
  }
  n.tool = -1;
  if (list.changed()) n.state.set_variable(Value::view("tools"), list.finish());
}

Value clean_call(Normaliser& n, Value call, Value tools) {
  const Value function = member_value(call, "function");
  const Value arguments = function.kind == Kind::dict ? member_value(function, "arguments") : Value();
  if (arguments.kind != Kind::dict) return call;
  const auto may_have_null = [](const DictEntry& one) {
    return one.value.is_none() || one.value.kind == Kind::dict || one.value.kind == Kind::list;
  };
  if (std::ranges::none_of(entries(arguments), may_have_null)) return call;
  const Value made = declared_alone(n.rt, arguments, parameters_of(tools, member_value(function, "name")));
  if (made.dict == arguments.dict) return call;
  n.note("function.arguments");
  n.state.changes.back().loses = "argument";
  n.state.changes.back().by_design = true;
  return with_member(n.rt, call, "function", with_member(n.rt, function, "arguments", made));
}

}  // namespace

void null_columns(Normaliser& n) {
  const Value given = member_value(n.state.variables, "tools");
  if (given.kind != Kind::list || n.state.converted.kind == Kind::dict) return;  // no table is written for other APIs
  clean_tools(n, given);
  const Value tools = member_value(n.state.variables, "tools");
  for (std::uint32_t i = 0; i < n.messages.size(); ++i) {
    n.message = static_cast<std::int32_t>(i);
    const Value made = map_calls(n, n.messages[i], [&](Value call) { return clean_call(n, call, tools); });
    if (made.dict != n.messages[i].dict) n.messages.set(i, made);
  }
}

}  // namespace parlance::passes
