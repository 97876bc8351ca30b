// Arguments in each codec. Begin reading at ArgumentsGrammar::of.
#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"
#include "grammar/reply_grammar.h"

namespace parlance::grammar {

using Codec = CallArguments::Codec;

namespace {

bool is_identifier(std::string_view name) {
  return !name.empty() && !ascii::is_digit(name[0]) && std::all_of(name.begin(), name.end(), ascii::is_word);
}

/// Every text that the reader takes for this marker.
std::vector<std::string> endings(const ReplyMarker* marker) {
  std::vector<std::string> all;
  if (marker == nullptr) return all;
  for (const std::string& text : marker->texts) {
    for (std::string& variant : soft_variants(text)) all.push_back(std::move(variant));
  }
  return all;
}

}  // namespace

ArgumentsGrammar::ArgumentsGrammar(GrammarData& data, const ReplyFormat& format, Notes& notes)
    : data_(data),
      ir_(data.ir),
      format_(format),
      notes_(notes),
      schemas_(data.tools.size()),
      sorted_(data.tools.size()) {}

void ArgumentsGrammar::make_rules() {
  for (const auto& schema : schemas_) {
    if (schema) schema->make_rules();
  }
}

std::vector<std::string> ArgumentsGrammar::end_texts() const {
  std::vector<Stop> stops;
  for (const ReplyMarker& end : format_.end) forbid(stops, end);
  for (const ReplyTurn& turn : format_.turns) forbid(stops, turn.open);
  std::vector<std::string> texts;
  for (Stop& stop : stops) texts.push_back(std::move(stop.literal));
  return texts;
}

Schema& ArgumentsGrammar::schema(std::size_t tool) {
  if (!schemas_[tool]) {
    const GrammarOptions& options = data_.options;
    const Schema::Context context{ir_,          data_.document,    notes_, shared_,
                                  options.open, options.any_order, {},     sorted_[tool]};
    schemas_[tool] = std::make_unique<Schema>(context, data_.tools[tool].parameters);
  }
  return *schemas_[tool];
}

/// A tool without a schema takes any object.
Schemas ArgumentsGrammar::parameters(std::size_t tool) const {
  const Value schema = data_.tools[tool].parameters;
  return schema.is(Kind::dict) ? Schemas{schema} : Schemas{};
}

/// Styles are compared by address in the caches of Schema, so equal ones must be one. Each part of the key is written
/// with its length in front: two lists of texts must not run into the same key.
const Style& ArgumentsGrammar::style(Style::Kind kind, Style::Space space, const std::string& quote,
                                     Style::Escape escape, const std::vector<std::string>& also_never,
                                     const std::string& gap) {
  std::string key{static_cast<char>(kind), static_cast<char>(space), static_cast<char>(escape)};
  const auto add = [&key](const std::string& text) {
    key.append(std::to_string(text.size())).append(1, ':').append(text);
  };
  add(quote);
  add(gap);
  for (const std::string& text : also_never) add(text);
  for (const NamedStyle& known : styles_) {
    if (known.key == key) return known.style;
  }
  std::vector<std::string> never;
  if (kind == Style::Kind::bare || kind == Style::Kind::raw) never = end_texts();
  never.insert(never.end(), also_never.begin(), also_never.end());
  styles_.push_back({key, Style(ir_, kind, space, quote, std::move(never), escape, gap)});
  return styles_.back().style;
}

NodeId ArgumentsGrammar::of(const CallArguments& codec, std::size_t tool, const ReplyMarker* closing) {
  data_.arguments.resize(data_.tools.size(), kNone);
  return data_.arguments[tool] = make(codec, tool, closing);
}

NodeId ArgumentsGrammar::make(const CallArguments& codec, std::size_t tool, const ReplyMarker* closing) {
  switch (codec.codec) {
    case Codec::json: return in_json(codec, tool);
    case Codec::keywords: return in_keywords(codec, tool);
    case Codec::tags:
      return tagged_members({codec.tags, tool, endings(closing), 0}, parameters(tool), data_.tools[tool].name);
    case Codec::bare:
      return schema(tool).value(style(Style::Kind::bare, Style::Space::none, codec.quote), parameters(tool),
                                data_.tools[tool].name, kObject);
    case Codec::code: return in_code(closing == nullptr ? "" : closing->texts[0]);
  }
  return ir_.never();
}

/// Rules must be complete before escaped() copies them, hence make_rules here and not at the end.
NodeId ArgumentsGrammar::in_json(const CallArguments& codec, std::size_t tool) {
  const Style& json = style(Style::Kind::json, codec.as_text ? Style::Space::blank : Style::Space::lines);
  const NodeId object = schema(tool).value(json, parameters(tool), data_.tools[tool].name, kObject);
  if (!codec.as_text) {
    const bool as_declared = !data_.options.any_order && !sorted_[tool];  // an engine knows no other order
    if (as_declared) data_.json.emplace(object, data_.tools[tool].parameters);
    return object;
  }
  schema(tool).make_rules();
  return ir_.sequence({ir_.literal("\""), escaped(ir_, object), ir_.literal("\"")});
}

/// A call of Python. A keyword given twice is a syntax error there, so free names are allowed only where none is
/// declared.
NodeId ArgumentsGrammar::in_keywords(const CallArguments& codec, std::size_t tool) {
  const Style& python = style(Style::Kind::python, Style::Space::blank);
  const Style& json = style(Style::Kind::json, Style::Space::lines, "python");
  const std::string& name = data_.tools[tool].name;
  const MemberWriter writer{
      [&](const Property& property) {
        if (!is_identifier(property.name)) {
          schema(tool).note(data_.tools[tool].parameters, "properties",
                            "'" + property.name + "' is not a Python name: left out", true);
          return ir_.never();
        }
        const std::string rule = name + "-" + property.name;
        const NodeId as_json = schema(tool).value(json, property.schemas, rule);  // as some templates print it
        return ir_.sequence({ir_.literal(property.name + "="),
                             ir_.choice({schema(tool).value(python, property.schemas, rule), as_json})});
      },
      [&](const Shape& shape) {
        const NodeId letter = ir_.chars({{'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
        const NodeId key = ir_.sequence(
            {letter, ir_.repeat(ir_.chars({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}), 0, kUnbounded)});
        if (!shape.properties.empty()) return ir_.never();  // a name twice would be an error
        return ir_.sequence({key, ir_.literal("="), schema(tool).value(python, shape.extra_schemas, name + "-extra")});
      },
      python.comma(), false};
  std::vector<NodeId> ways;
  for (const Shape& shape : schema(tool).shapes(parameters(tool)))
    ways.push_back(schema(tool).members(shape, writer, name));
  return ir_.sequence({ir_.literal(codec.callee + "("), ir_.choice(ways), ir_.literal(")")});
}

// ---- a program

/// What nothing closes begins as no other arguments do, nor as a fence around them.
NodeId ArgumentsGrammar::in_code(const std::string& closing) {
  std::vector<Stop> stops;
  if (!closing.empty()) stops.push_back({closing, ir_.empty()});
  for (std::string& text : end_texts()) stops.push_back({std::move(text), kNone});
  if (!closing.empty()) return ir_.text(std::move(stops), false);
  std::vector<Range> never{{'\t', '\n'}, {'\r', '\r'}, {' ', ' '}, {'{', '{'}, {'`', '`'}};
  for (const Stop& stop : stops) {
    const char32_t c = utf8::decode(stop.literal.data(), stop.literal.data() + stop.literal.size()).code_point;
    never.push_back({c, c});
  }
  return ir_.sequence({ir_.chars(complement(normalized(never))), ir_.text(std::move(stops), true)});
}

}  // namespace parlance::grammar
