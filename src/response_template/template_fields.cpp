// Checking a response_template. Begin reading at fields_of.
#include "response_template/template_fields.h"

#include <algorithm>
#include <span>

#include "base/nearest.h"
#include "base/reasoning_names.h"
#include "response_template/call_shape.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance::response {
namespace {

constexpr std::string_view kMembers[] = {"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"};
constexpr std::string_view kFieldMembers[] = {"open",     "open_pattern", "close",         "close_pattern",
                                              "content",  "content_args", "repeats",       "join",
                                              "optional", "transform",    "transform_each"};
constexpr std::string_view kParsers[] = {"text", "int",        "float",    "bool",
                                         "json", "xml-inline", "kv-lines", "python-call-list"};

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

bool flag(Value dict, std::string_view key) {
  const Value* found = member(dict, key);
  return found != nullptr && found->is(Kind::boolean) && found->integer != 0;
}

/// A member that is not known is an error: a misspelt "close" would otherwise read to the reply's
/// end.
Result<void> refuse_others(Value dict, std::span<const std::string_view> known, const std::string& path) {
  for (const DictEntry& entry : entries(dict)) {
    const std::string_view key = entry.key.is_string() ? leaf_text(entry.key) : std::string_view();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    NearestName nearest(key);
    for (const std::string_view name : known) nearest.offer(name);
    return cannot_say(joined(path, key), "a response_template has no such member here", nearest.hint());
  }
  return {};
}

Result<void> take_texts(Value v, const std::string& path, std::vector<std::string>& out) {
  if (v.is_string()) {
    out.emplace_back(leaf_text(v));
  } else if (!v.is_sequence() || items(v).empty()) {
    return cannot_say(path, "must be a string or a list of strings");
  } else {
    for (const Value item : items(v)) {
      if (!item.is_string()) return cannot_say(path + "[" + std::to_string(out.size()) + "]", "must be a string");
      out.emplace_back(leaf_text(item));
    }
  }
  if (std::find(out.begin(), out.end(), "") != out.end()) return cannot_say(path, "an empty text stands everywhere");
  return {};
}

/// `key` holds texts, `key`_pattern a regular expression; never both.
Result<Border> border_of(Value dict, const std::string& path, const std::string& key) {
  const Value* texts = member(dict, key);
  const Value* pattern = member(dict, key + "_pattern");
  Border border;
  if (texts != nullptr && pattern != nullptr)
    return cannot_say(joined(path, key), "stands beside " + key + "_pattern: only one of them counts");
  if (texts != nullptr) {
    if (Result<void> taken = take_texts(*texts, joined(path, key), border.texts); !taken) return taken.error();
  }
  if (pattern != nullptr) {
    if (!pattern->is_string()) return cannot_say(joined(path, key + "_pattern"), "must be a string");
    border.pattern = std::string(leaf_text(*pattern));
  }
  return border;
}

/// Texts in a transform are paths in braces or plain: none is both.
Result<void> check_transform(Value v, const std::string& path) {
  if (v.is(Kind::dict)) {
    for (const DictEntry& entry : entries(v)) {
      if (Result<void> fine = check_transform(entry.value, joined(path, leaf_text(entry.key))); !fine) return fine;
    }
  } else if (v.is_sequence()) {
    for (const Value item : items(v)) {
      if (Result<void> fine = check_transform(item, path); !fine) return fine;
    }
  } else if (v.is_string()) {
    const std::string_view text = leaf_text(v);
    const std::size_t open = text.find('{');
    const std::size_t close = open == text.npos ? open : text.find('}', open);
    if (close != text.npos && close > open + 1 && path_in_braces(text).empty())
      return cannot_say(path, "a {path} among other text: it must be the whole text");
  }
  return {};
}

/// Whether a regular expression has a group with a name: (?P<name>…) or (?<name>…).
bool has_named_group(std::string_view pattern) {
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
    } else if (c == '[' || c == ']') {
      in_class = c == '[';
    } else if (c == '(' && !in_class) {
      const std::string_view group = pattern.substr(i);
      const bool looks_behind = group.starts_with("(?<=") || group.starts_with("(?<!");
      if (group.starts_with("(?P<") || (group.starts_with("(?<") && !looks_behind)) return true;
    }
  }
  return false;
}

/// What a group has read reaches the message only through a transform.
Result<void> check_groups(const TemplateField& field) {
  if (!field.transform.is_undefined() && !field.transform.is_none()) return {};
  for (const auto& [key, border] :
       {std::pair{".open_pattern", &field.open}, std::pair{".close_pattern", &field.close}}) {
    if (border->pattern && has_named_group(*border->pattern))
      return cannot_say(field.path + key, "has a group with a name, and no transform takes what it reads");
  }
  return {};
}

/// Content and reasoning are texts as they stand there; values of other types have no place in a ReplyFormat.
Result<void> check_parser(const TemplateField& field) {
  constexpr std::string_view kNever[] = {"int", "float", "bool", "kv-lines"};
  const bool never = std::find(std::begin(kNever), std::end(kNever), field.content) != std::end(kNever);
  const bool is_text = field.name == "content" || field.is_reasoning();
  if (never || (is_text && field.content != "text"))
    return cannot_say(field.path + ".content", "what is no call is a text: a ReplyFormat has no other values");
  const bool as_is = field.transform.is_undefined() || field.transform.is_none() ||
                     (field.transform.is_string() && leaf_text(field.transform) == "{content}");
  if (is_text && !as_is)
    return cannot_say(field.path + ".transform", "a text is given as it is: only calls are changed");
  return {};
}

/// Members that mean something only beside others.
Result<void> check_rules(Value dict, const std::string& path) {
  const Value* join = member(dict, "join");
  if (join != nullptr && !join->is_none() && !join->is_string()) return cannot_say(path + ".join", "must be a string");
  if (join != nullptr && join->is_string() && !flag(dict, "repeats"))
    return cannot_say(path + ".join", "needs \"repeats\": true");
  const Value* each = member(dict, "transform_each");
  if (each != nullptr && !each->is(Kind::boolean)) return cannot_say(path + ".transform_each", "must be true or false");
  const Value* transform = member(dict, "transform");
  const bool none = transform == nullptr || transform->is_none();
  if (none && flag(dict, "transform_each")) return cannot_say(path + ".transform_each", "needs a transform");
  return none ? Result<void>() : check_transform(*transform, path + ".transform");
}

Result<TemplateField> field_of(std::string_view name, Value dict) {
  TemplateField field;
  field.name = name;
  field.path = "fields." + field.name;
  if (!dict.is(Kind::dict)) return cannot_say(field.path, "must be an object");
  if (Result<void> fine = refuse_others(dict, kFieldMembers, field.path); !fine) return fine.error();
  if (const Value* content = member(dict, "content")) {
    field.content = content->is_string() ? leaf_text(*content) : std::string_view();
    NearestName nearest(field.content);
    for (const std::string_view parser : kParsers) nearest.offer(parser);
    if (std::find(std::begin(kParsers), std::end(kParsers), field.content) == std::end(kParsers)) {
      return cannot_say(field.path + ".content",
                        "must be one of text, int, float, bool, json, xml-inline, kv-lines, python-call-list",
                        nearest.hint());
    }
  }
  for (const auto& [key, border] : {std::pair{"open", &field.open}, std::pair{"close", &field.close}}) {
    Result<Border> found = border_of(dict, field.path, key);
    if (!found) return found.error();
    *border = std::move(*found);
  }
  if (Result<void> fine = check_rules(dict, field.path); !fine) return fine.error();
  if (const Value* arguments = member(dict, "content_args")) {
    if (!arguments->is(Kind::dict)) return cannot_say(field.path + ".content_args", "must be an object");
    field.arguments = *arguments;
  }
  if (const Value* transform = member(dict, "transform")) field.transform = *transform;
  field.each = flag(dict, "transform_each");
  if (const Value* join = member(dict, "join"); join != nullptr && join->is_string()) field.join = leaf_text(*join);
  if (Result<void> fine = check_groups(field); !fine) return fine.error();
  if (Result<void> fine = check_parser(field); !fine) return fine.error();
  return field;
}

}  // namespace

bool TemplateField::is_reasoning() const { return is_reasoning_name(name) || name == "thought"; }

std::string_view path_in_braces(std::string_view text) {
  if (text.size() < 3 || text.front() != '{' || text.find_first_of("{}", 1) != text.size() - 1 || text.back() != '}')
    return {};
  return text.substr(1, text.size() - 2);
}

Result<TemplateFields> fields_of(Value root) {
  if (!root.is(Kind::dict)) return cannot_say("", "a response_template must be an object");
  if (Result<void> fine = refuse_others(root, kMembers, ""); !fine) return fine.error();
  const Value* version = member(root, "version");
  if (version != nullptr && !(version->is_small_int() && version->integer == 1))
    return cannot_say("version", "only version 1 is known");
  const Value* defaults = member(root, "defaults");
  if (defaults != nullptr && !defaults->is(Kind::dict)) return cannot_say("defaults", "must be an object");
  const Value* fields = member(root, "fields");
  if (fields == nullptr || !fields->is(Kind::dict) || entries(*fields).empty())
    return cannot_say("fields", "must be an object with a member for each field");
  TemplateFields out;
  std::string implicit;
  for (const DictEntry& entry : entries(*fields)) {
    Result<TemplateField> field = field_of(leaf_text(entry.key), entry.value);
    if (!field) return field.error();
    if (!field->open.exists() && !implicit.empty())
      return cannot_say(field->path, "has no `open`, as " + implicit + " has none: only one field may be what is left");
    if (!field->open.exists()) implicit = field->path;
    out.fields.push_back(std::move(*field));
  }
  Result<Border> anchor = border_of(root, "", "start_anchor");
  if (!anchor) return anchor.error();
  if (!anchor->exists())
    return cannot_say("start_anchor", "is missing: it, or start_anchor_pattern, says where a reply begins");
  out.anchor = std::move(*anchor);
  return out;
}

}  // namespace parlance::response
