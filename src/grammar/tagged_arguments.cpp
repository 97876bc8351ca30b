// Arguments with a tag each: KEY and value, and in some formats the type, or tags inside of tags. Begin reading at
// ArgumentsGrammar::tagged_members.
#include <algorithm>

#include "grammar/reply_grammar.h"
#include "reply/scan/text_codec.h"

namespace parlance::grammar {
namespace {

constexpr int kDeepestTag = 8;  ///< tags inside of tags
constexpr std::size_t kMostTags = 20000;

/// What is escaped may stand there; what is not may end the key, or is none that a reader takes.
bool may_be_in_tag(std::string_view key, TextEscape escape) {
  const std::string_view never = escape == TextEscape::none        ? "<>\"'=\n\r\t "
                                 : escape == TextEscape::attribute ? "<>\n\r\t"
                                                                   : "\n\r\t";
  return !key.empty() && key.find_first_of(never) == std::string_view::npos && key.front() != ' ' && key.back() != ' ';
}

Style::Escape escape_of(const ArgumentTags& tags) {
  if (!tags.item.empty()) return Style::Escape::avoid;  // what begins as a tag is one
  switch (tags.escape) {
    case ArgumentTags::Escape::xml: return Style::Escape::xml;
    case ArgumentTags::Escape::cdata: return Style::Escape::cdata;
    default: return Style::Escape::none;
  }
}

}  // namespace

/// What no string of JSON in a tag holds: the first words of what may end the value.
std::vector<std::string> ArgumentsGrammar::ends_of_value(const Tagged& to) {
  std::vector<std::string> texts = to.after;
  texts.push_back(to.tags.close.texts[0]);
  std::vector<std::string> words;
  for (const std::string& text : texts) {
    const std::vector<std::string_view> all = reply::soft_words(text);
    if (!all.empty() && std::find(words.begin(), words.end(), all[0]) == words.end()) words.emplace_back(all[0]);
  }
  return words;
}

NodeId ArgumentsGrammar::tagged_members(const Tagged& to, const Schemas& schemas, const std::string& name) {
  Schema& compiler = schema(to.tool);
  const auto left_out = [&](const std::string& what, std::string_view why) {
    compiler.note(data_.tools[to.tool].parameters, "properties", "'" + what + "' " + std::string(why) + ": left out",
                  true);
    return ir_.never();
  };
  const MemberWriter writer{
      [&](const Property& property) {
        if (!may_be_in_tag(property.name, to.tags.key_escape)) return left_out(property.name, "cannot stand in a tag");
        if (to.depth >= kDeepestTag || tags_made_ > kMostTags)
          return left_out(property.name, "nests too deep for tags");
        return tag(to, property.schemas, ir_.literal(in_attribute(property.name, to.tags.key_escape)), property.name);
      },
      [&](const Shape& shape) {
        if (!shape.properties.empty() || !to.tags.close_end.empty()) return ir_.never();
        const NodeId letter = ir_.chars({{'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
        const NodeId key = ir_.sequence(
            {letter, ir_.repeat(ir_.chars({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}), 0, kUnbounded)});
        return tag(to, shape.extra_schemas, key, "extra");
      },
      ir_.empty(), false};
  std::vector<NodeId> ways;
  for (const Shape& shape : compiler.shapes(schemas)) ways.push_back(compiler.members(shape, writer, name));
  return ir_.choice(ways);
}

NodeId ArgumentsGrammar::tag(const Tagged& to, const Schemas& schemas, NodeId key_node, const std::string& key) {
  ++tags_made_;
  const ArgumentTags& tags = to.tags;
  const std::string closing =
      tags.close.texts[0] + (tags.close_end.empty() ? "" : in_attribute(key, tags.key_escape) + tags.close_end);
  return ir_.sequence({ir_.literal(tags.open.before + tags.open.texts[0]), key_node,
                       ir_.literal(tags.key_close.before + tags.key_close.texts[0] + tags.key_close.after),
                       tagged_value(to, schemas, data_.tools[to.tool].name + "-" + key, closing),
                       ir_.literal(tags.close.after)});
}

/// The word that stands for the type beside an argument. Some formats have a flag there, is it a string or not; others
/// JSON Schema's names.
std::string ArgumentsGrammar::type_word(const ArgumentTags& tags, Types types) const {
  const bool flag = !tags.string_types.empty() && tags.string_types[0] == "true";
  if ((types & kString) != 0 && !tags.string_types.empty()) return tags.string_types[0];
  if (flag) return "false";
  if ((types & kNumber) != 0) return "number";
  return (types & kBoolean) != 0  ? "boolean"
         : (types & kObject) != 0 ? "object"
         : (types & kArray) != 0  ? "array"
                                  : "null";
}

/// A list as tags inside of the tag. Each level multiplies what a schema that contains itself makes, so depth and tags
/// are both bounded.
NodeId ArgumentsGrammar::nested_list(const Tagged& to, const Schemas& schemas) {
  if (to.depth >= kDeepestTag) return ir_.never();
  const Tagged inner{to.tags, to.tool, to.after, to.depth + 1};
  std::vector<NodeId> ways;
  for (const Items& items : schema(to.tool).arrays(schemas)) {
    const NodeId item = tag(inner, items.schemas, ir_.literal(to.tags.item), to.tags.item);
    ways.push_back(ir_.repeat(item, items.min, items.max));
  }
  return ir_.choice(ways);
}

/// The value and what closes its tag. A string stands as it is; other values as JSON or Python's literals, or in tags.
NodeId ArgumentsGrammar::tagged_value(const Tagged& to, const Schemas& schemas, const std::string& name,
                                      const std::string& closing) {
  const ArgumentTags& tags = to.tags;
  Schema& compiler = schema(to.tool);
  const Types types = compiler.types_of(schemas);
  std::vector<NodeId> ways;
  const auto type = [&](Types of) {
    if (!tags.type_close.exists()) return ir_.empty();
    return ir_.literal(type_word(tags, of) + tags.type_close.before + tags.type_close.texts[0] + tags.type_close.after);
  };
  if ((types & kString) != 0) {
    std::vector<std::string> never = to.after;  // a value without its end ends there
    if (!tags.item.empty()) never.push_back(tags.close.texts[0]);
    for (const std::string& text : tags.open.texts) {
      if (!tags.item.empty()) break;  // a tag inside of a text is text
      for (std::string& variant : soft_variants(text)) never.push_back(std::move(variant));
    }
    const Style& raw = style(Style::Kind::raw, Style::Space::none, closing, escape_of(tags), never, tags.close.before);
    ways.push_back(ir_.sequence({type(kString), compiler.value(raw, schemas, name, kString)}));
  }
  const bool python = tags.style == ArgumentTags::Style::python;
  const std::vector<std::string> ends = ends_of_value(to);
  const Style& as_python = style(Style::Kind::python, Style::Space::blank, {}, Style::Escape::none, ends);
  const Style& as_json = style(Style::Kind::json, Style::Space::lines, {}, Style::Escape::none, ends);
  // A template may print a list as JSON and a truth as Python does: words come in both ways, containers of Python as
  // JSON too.
  const auto written = [&](Types one) {
    const NodeId shown = compiler.value(python ? as_python : as_json, schemas, name, one);
    const bool both = python ? one != kNumber : one == kBoolean || one == kNull;
    return both ? ir_.choice({shown, compiler.value(python ? as_json : as_python, schemas, name, one)}) : shown;
  };
  const NodeId end = ir_.literal(tags.close.before + closing);
  const bool nests = !tags.item.empty();
  for (const Types one : {kNumber, kBoolean, kNull, kArray, kObject}) {
    if ((types & one) == 0) continue;
    const NodeId value = nests && one == kArray ? nested_list(to, schemas)
                         : nests && one == kObject
                             ? tagged_members({tags, to.tool, to.after, to.depth + 1}, schemas, name)
                             : written(one);
    ways.push_back(ir_.sequence({type(one), value, end}));
  }
  return ir_.choice(ways);
}

}  // namespace parlance::grammar
