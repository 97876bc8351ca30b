// Tools and documents that are not in the prompt, and what of them. Begin reading at find_lost_tools.
#include <algorithm>

#include "base/nearest.h"
#include "conversation/custom_tool.h"
#include "conversation/edit.h"
#include "losses/text_search.h"

namespace parlance {
namespace {

/// Members of a document that say where it is from: they need not be shown.
constexpr std::string_view kDocumentIds[] = {"id", "doc_id", "document_id", "url", "source"};

bool is_id(std::string_view name) { return is_one_of(name, kDocumentIds); }

/// What a function has, at least one of it.
constexpr std::string_view kFunction[] = {"name", "description", "parameters"};

/// Members that say nothing to a model, or are looked for by themselves.
constexpr std::string_view kPlain[] = {"type", "function", "custom", "strict", "cache_control"};
/// Other APIs' names for the parameters.
constexpr std::string_view kOtherParameters[] = {"inputSchema", "input_schema", "parameter_definitions", "args_schema",
                                                 "parametersJsonSchema"};
/// Members of a schema: those that are looked for or say nothing, and those that may be objects.
constexpr std::string_view kPlainInSchema[] = {"type",    "properties", "required", "additionalProperties",
                                               "$schema", "title",      "strict"};
constexpr std::string_view kDefinitions[] = {"$defs", "definitions", "items", "allOf", "anyOf", "oneOf"};
/// Members of a schema whose schemas describe the same object as it does.
constexpr std::string_view kOfSameObject[] = {"allOf", "anyOf", "oneOf", "not", "if", "then", "else"};
/// Members of a schema that hold values and no schemas.
constexpr std::string_view kNoSchema[] = {"default", "examples", "example", "enum", "const", "required"};
constexpr std::string_view kObjectsInSchema[] = {"$defs",
                                                 "definitions",
                                                 "items",
                                                 "not",
                                                 "if",
                                                 "then",
                                                 "else",
                                                 "patternProperties",
                                                 "dependentSchemas",
                                                 "propertyNames",
                                                 "contains",
                                                 "default",
                                                 "examples",
                                                 "example"};

/// Of a custom tool a pass makes a function with one parameter. Its name is none of the request's, its text may be.
void made_parameter(TextSearch& search, Value schema, const Place& place, Tally& each) {
  for (const DictEntry& entry : entries(schema)) {
    const bool is_given = entry.value.is_string() && !search.is_made(entry.value);
    if (is_given) search.text(entry.value, "tool", place[leaf_text(entry.key)], each);
  }
}

/// The parameters that an object has, and those that it has by the schemas around this one.
struct OfObject {
  Value properties;
  const OfObject* around = nullptr;
};

/// Is the name of a parameter there as that of the same object's?
bool is_named_around(const TextSearch& search, std::string_view name, const OfObject* object) {
  for (; object != nullptr; object = object->around) {
    if (object->properties.kind != Kind::dict) continue;
    for (const DictEntry& entry : entries(object->properties)) {
      if (leaf_text(entry.key) == name) return search.is_key_reached(object->properties, entry.key);
    }
  }
  return false;
}

/// Names of parameters deeper in a schema, of objects in objects and of definitions: the model has to know them as
/// well. Where an object has several and all are missing, it is named itself. `object`: the one that the schema
/// describes as well, being one of its `anyOf`; null if it is another.
void inner_parameters(TextSearch& search, Value schema, const Place& place, Tally& each, const OfObject* object) {
  if (schema.is_sequence()) {
    for (std::uint32_t i = 0; i < schema.list->size; ++i)
      inner_parameters(search, schema.list->items[i], place[i], each, object);
  }
  if (schema.kind != Kind::dict) return;
  const OfObject here{member_value(schema, "properties"), object};
  const Place members = place["properties"];
  Tally own = search.tally();
  for (const DictEntry& entry : entries(schema)) {
    const std::string_view name = leaf_text(entry.key);
    if (is_one_of(name, kNoSchema)) continue;
    if (name != "properties" || entry.value.kind != Kind::dict) {
      inner_parameters(search, entry.value, place[name], own, is_one_of(name, kOfSameObject) ? &here : nullptr);
      continue;
    }
    for (const DictEntry& inner : entries(entry.value)) {
      const Place parameter = members[leaf_text(inner.key)];
      const bool lost = has_words(inner.key) && !search.is_key_reached(entry.value, inner.key) &&
                        !is_named_around(search, leaf_text(inner.key), object);
      own.add(lost);
      if (lost) search.lose("tool", search.path_of(inner.value, parameter));
      if (!lost) inner_parameters(search, inner.value, parameter, own, nullptr);
    }
  }
  if (own.all_lost() && search.lost_since(own) > 1) search.lose_whole(own, "tool", search.path_of(schema, place));
  each.add(own);
}

void parameter(TextSearch& search, Value properties, const DictEntry& entry, const Place& place, Tally& each) {
  const bool lost = has_words(entry.key) && !search.is_key_reached(properties, entry.key);
  if (lost && entry.value.kind == Kind::dict && search.is_made(entry.key))
    return made_parameter(search, entry.value, place, each);
  each.add(lost);
  if (lost) return search.lose("tool", search.path_of(entry.value, place));
  inner_parameters(search, entry.value, place, each, nullptr);
  if (!search.left_out()) return;
  Tally details = search.tally();
  if (entry.value.kind == Kind::dict) search.members(entry.value, "detail", place, details);
  for (std::size_t i = details.first_loss; i < search.said(); ++i) search.at(i).kind = LossKind::left_out;
}

/// Is nothing of the member there? A container that Go prints has only the members that Ollama knows.
bool is_missing(const TextSearch& search, Value container, const DictEntry& entry) {
  const bool has_key = search.is_go() ? search.is_reached(entry.key) : search.is_key_reached(container, entry.key);
  return has_content(entry.value) && !has_key && !search.is_any_reached(entry.value);
}

bool leave_out_of(TextSearch& search, Value value, const Place& place);

/// Of a member of which nothing is there, itself is named in place of what it holds. Is anything there?
bool leave_out_member(TextSearch& search, Value container, const DictEntry& entry, const Place& here) {
  const std::size_t first = search.said();
  const bool has_key = search.is_go() ? search.is_reached(entry.key) : search.is_key_reached(container, entry.key);
  const bool is_there = leave_out_of(search, entry.value, here) || has_key;
  if (is_there || !has_content(entry.value)) return is_there;
  search.drop_from(first);
  search.leave_out("detail", search.path_of(entry.value, here));
  return false;
}

/// What of a value is not there, each named where nothing of it is. Is anything there? One walk, since a request may
/// nest deeply.
bool leave_out_of(TextSearch& search, Value value, const Place& place) {
  bool any = search.is_reached(value);
  if (value.kind == Kind::dict) {
    for (const DictEntry& entry : entries(value)) {
      const bool is_there = leave_out_member(search, value, entry, place[leaf_text(entry.key)]);
      any = any || is_there || (entry.key.is_string() && search.is_reached(entry.key));
    }
  } else if (value.is_sequence()) {
    for (std::uint32_t i = 0; i < value.list->size; ++i) {
      const bool is_there = leave_out_of(search, value.list->items[i], place[i]);
      any = any || is_there;
    }
  } else if (has_words(value) && !any) {
    search.leave_out("detail", search.path_of(value, place));
  }
  return any;
}

/// Parameters under a name that templates do not read.
std::string hint_for_parameters(const DictEntry& entry) {
  constexpr std::string_view kName = "parameters";
  const std::string_view name = leaf_text(entry.key);
  NearestName nearest(name);
  nearest.offer(kName);
  if (!nearest.best().empty()) return nearest.hint();
  const bool is_schema = member_value(entry.value, "properties").kind == Kind::dict;
  return is_schema || is_one_of(name, kOtherParameters) ? "chat templates read 'parameters'" : "";
}

/// What a function has besides kFunction: its parameters under another name are lost, the rest is left out. Beside a
/// wrapped function, `inner`, what belongs into it is lost, as by a brace too early.
void other_members(TextSearch& search, Value function, const Place& place, Value inner, bool has_parameters,
                   Tally& each) {
  for (const DictEntry& entry : entries(function)) {
    const std::string_view name = leaf_text(entry.key);
    const bool is_own = is_one_of(name, kFunction), is_outside = is_own && !inner.is_undefined();
    if (is_one_of(name, kPlain) || (is_own && (!is_outside || member(inner, name) != nullptr))) continue;
    if (!is_missing(search, function, entry)) {
      if (search.left_out()) leave_out_of(search, entry.value, place[name]);
      continue;
    }
    std::string hint = is_outside ? "it belongs into 'function'" : has_parameters ? "" : hint_for_parameters(entry);
    std::string path = search.path_of(entry.value, place[name]);
    if (!hint.empty()) {
      each.add(true);
      search.lose("tool", std::move(path), std::move(hint));
    } else if (search.left_out() && !each.all_lost()) {
      search.leave_out("detail", std::move(path));
    }
  }
}

/// A schema of one object: `properties`, or what stands in their place.
void parameters(TextSearch& search, Value schema, const Place& place, Tally& each) {
  const Value properties = member_value(schema, "properties");
  const Place members = place["properties"];
  const OfObject object{properties};
  if (properties.kind == Kind::dict) {
    for (const DictEntry& entry : entries(properties))
      parameter(search, properties, entry, members[leaf_text(entry.key)], each);
  }
  for (const DictEntry& entry : entries(schema)) {
    const std::string_view name = leaf_text(entry.key);
    if (is_one_of(name, kPlainInSchema)) continue;
    const std::size_t said = search.said();
    if (is_one_of(name, kDefinitions))
      inner_parameters(search, entry.value, place[name], each, is_one_of(name, kOfSameObject) ? &object : nullptr);
    if (search.said() != said) continue;
    if (!is_missing(search, schema, entry)) {
      if (search.left_out()) leave_out_of(search, entry.value, place[name]);
      continue;
    }
    const bool is_bare =
        properties.kind != Kind::dict && entry.value.kind == Kind::dict && !is_one_of(name, kObjectsInSchema);
    std::string path = search.path_of(entry.value, place[name]);
    if (is_bare) {
      each.add(true);
      search.lose("tool", std::move(path), "a schema has its parameters under 'properties'");
    } else if (search.left_out() && !each.all_lost()) {
      search.leave_out("detail", std::move(path));
    }
  }
}

/// What the format of a custom tool says besides, and another member where the function has one of its own: it goes no
/// further than the pass that makes the function.
void others_of_custom(TextSearch& search, Value dict, const Place& place, std::span<const std::string_view> own,
                      Tally& each) {
  if (dict.kind != Kind::dict) return has_content(dict) ? search.leaves(false, dict, "tool", place, each) : void();
  for (const DictEntry& entry : entries(dict)) {
    const std::string_view name = leaf_text(entry.key);
    const bool is_own = is_one_of(name, own) && (name != "definition" || entry.value.is_string());
    if (is_own || !has_content(entry.value) || search.is_any_reached(entry.value)) continue;
    each.add(true);
    search.lose("tool", search.path_of(entry.value, place[name]));
  }
}

void format_of_custom(TextSearch& search, Value custom, const Place& place, Tally& each) {
  constexpr std::string_view kOwn[] = {"type", "syntax", "definition"}, kOfText[] = {"type"},
                             kOfFormat[] = {"type", "grammar"};
  const Value format = member_value(custom, "format"), grammar = member_value(format, "grammar");
  const Place here = place["format"];
  if (!is_text(member(format, "type"), "grammar")) return others_of_custom(search, format, here, kOfText, each);
  if (grammar.kind != Kind::dict) return others_of_custom(search, format, here, kOwn, each);
  others_of_custom(search, format, here, kOfFormat, each);
  others_of_custom(search, grammar, here["grammar"], kOwn, each);
}

/// The name of a grammar's language, which the function that a pass makes of a custom tool does not have.
void details_of_custom(TextSearch& search, std::int64_t number, Value function, const Place& place, Tally& each) {
  const Value given = search.given_tool(number);
  const Value custom = inside_custom(given);
  if (!custom.is(Kind::dict) || !member_value(custom, "name").is_string()) return;
  const Place inner_place = place["custom"];
  const Place& here = custom.dict == given.dict ? place : inner_place;
  format_of_custom(search, custom, here, each);
  const Value parameters = member_value(custom, "parameters");
  if (has_content(parameters)) search.leaves(false, parameters, "tool", here["parameters"], each);
  if (!has_grammar_beyond_pattern(given, function)) return;
  const Value format = member_value(custom, "format");
  const Value inner = member_value(format, "grammar");
  const Value syntax = member_value(inner.is(Kind::dict) ? inner : format, "syntax");
  if (!has_words(syntax) || search.is_reached(syntax)) return;
  each.add(true);
  search.lose("tool", search.path_of(syntax, place["syntax"]));
}

/// Else it is a tool that the server runs, or a list of functions as another API has it.
bool is_function(Value inside) {
  return std::ranges::any_of(kFunction, [&](std::string_view name) { return member(inside, name) != nullptr; });
}

/// What a model must know to call a tool: its name, what it does, its parameters' names. The rest are details. Of what
/// is no function, all must be there.
void tool(TextSearch& search, Value value, const Place& place, Tally& each) {
  if (value.kind != Kind::dict) return value.is_none() ? void() : search.leaves(false, value, "tool", place, each);
  const Value* wrapped = member(value, "function");
  if (wrapped != nullptr && wrapped->kind != Kind::dict) wrapped = nullptr;
  const Value inside = wrapped != nullptr ? *wrapped : value;
  const Place function = place["function"];
  const Place& here = wrapped != nullptr ? function : place;
  if (!is_function(inside)) return search.members(value, "tool", place, each);
  for (const std::string_view name : {"name", "description"}) {
    if (const Value* said = member(inside, name); said != nullptr && !search.is_made(*said))
      search.text(*said, "tool", here[name], each);
  }
  const Value schema = member_value(inside, "parameters");
  if (schema.kind == Kind::dict) {
    parameters(search, schema, here["parameters"], each);
  } else if (has_content(schema)) {
    search.leaves(false, schema, "tool", here["parameters"], each);
  }
  other_members(search, inside, here, {}, has_content(schema), each);
  if (wrapped != nullptr) other_members(search, value, place, inside, has_content(schema), each);
  details_of_custom(search, place.index, inside, place, each);
}

/// All texts in it, however deep; `of_id`: they need not be shown.
void document_texts(TextSearch& search, Value value, const Place& place, bool of_id, Tally& each) {
  if (value.kind == Kind::dict) {
    for (const DictEntry& entry : entries(value)) {
      const std::string_view name = leaf_text(entry.key);
      document_texts(search, entry.value, place[name], of_id || is_id(name), each);
    }
  } else if (value.is_sequence()) {
    for (std::uint32_t i = 0; i < value.list->size; ++i)
      document_texts(search, value.list->items[i], place[i], of_id, each);
  } else if (has_words(value) && !of_id) {
    search.text(value, "document", place, each);
  } else if (has_words(value) && search.left_out() && !search.is_reached(value)) {
    search.leave_out("detail", search.path_of(value, place));
  }
}

void document(TextSearch& search, Value value, const Place& place, Tally& each) {
  if (value.kind != Kind::dict && !value.is_sequence()) return search.text(value, "document", place, each);
  document_texts(search, value, place, false, each);
}

using FindOne = void (*)(TextSearch&, Value, const Place&, Tally&);

/// What stands in place of a list, as --as-is and variables take it. A template takes a text's letters for its items.
void no_list(TextSearch& search, Value value, const Place& name, std::string_view subject) {
  Tally all = search.tally();
  search.leaves(false, value, subject, name, all);
  if (all.all_lost()) search.lose_whole(all, subject, name.text());
  const std::string hint = std::string(name.name) + " is a list";
  for (std::size_t i = all.first_loss; i < search.said(); ++i) search.at(i).hint = hint;
  if (search.is_scattered(value))
    search.note({LossKind::lost, subject, name.text(), "a text, whose letters the template takes one by one", hint});
}

/// Where nothing of several is in the prompt, one loss says so.
void find_in_list(TextSearch& search, Value list, const Place& name, std::string_view subject, FindOne find) {
  if (!has_content(list)) return;
  if (list.kind != Kind::list) return no_list(search, list, name, subject);
  Tally all = search.tally();
  std::size_t lost = 0;
  for (std::uint32_t i = 0; i < list.list->size; ++i) {
    const Value one = list.list->items[i];
    Tally each = search.tally();
    find(search, one, name[i], each);
    if (each.all_lost()) search.lose_whole(each, subject, search.path_of(one, name[i]));
    lost += each.all_lost() ? 1 : 0;
    all.add(each);
  }
  if (lost != list.list->size || lost == 1) return;
  search.lose_whole(all, subject, name.text());
  search.at(search.said() - 1).sentence = "none of these " + std::to_string(lost) + " is in the prompt";
}

}  // namespace

void find_lost_tools(TextSearch& search, Value variables) {
  if (const Value* tools = member(variables, "tools")) find_in_list(search, *tools, {nullptr, "tools"}, "tool", tool);
}

void find_lost_documents(TextSearch& search, Value variables) {
  if (const Value* documents = member(variables, "documents"))
    find_in_list(search, *documents, {nullptr, "documents"}, "document", document);
}

}  // namespace parlance
