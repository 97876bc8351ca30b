// Objects: declared members in their order, then others. Begin reading at Schema::members.
#include <algorithm>

#include "grammar/matcher.h"
#include "grammar/schema.h"

namespace parlance::grammar {
namespace {

constexpr std::size_t kMostProperties = 2000;
constexpr std::size_t kLongestName = 200;

bool is_false(Value value) { return value.is(Kind::boolean) && value.integer == 0; }

Property* find(std::vector<Property>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Property& p) { return p.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

/// Whether a pattern is found in a name; a pattern that is not understood is not.
bool Schema::matches(Value schema, std::string_view pattern, std::string_view name) {
  if (!context_.shared.spend(5 + pattern.size() + name.size())) {
    note(schema, "patternProperties", "the schemas are too large: patterns are not held to from here on");
    return false;
  }
  const Unit plain = [this](std::vector<Range> ranges) { return ir_.chars(std::move(ranges)); };
  std::string why;
  const std::optional<Regex> regex = parse_regex(ir_, plain, pattern, why);
  if (!regex) note(schema, "patternProperties", why);
  if (!regex || name.size() > kLongestName) return false;
  constexpr std::size_t kMostSteps = 1 << 16, kStepsOfMicrosecond = 8;
  Matcher matcher(ir_, regex->node, kMostSteps);
  const bool accepted = matcher.accepts(name);
  // Charged when it is known, since steps grow with the product of the two.
  context_.shared.spend(matcher.steps() / kStepsOfMicrosecond);
  if (matcher.gave_up()) note(schema, "patternProperties", "a pattern that takes too long to look for in a name");
  return accepted;
}

/// Declared names in the order of their schemas: a model has read its tools in that order, and writes members in it.
/// Names that are only required come behind them, since a schema may require a member that it does not describe.
void Schema::find_properties(const Leaf& leaf, Shape& shape) {
  for (const Value schema : leaf.all) {
    const Value declared = get(schema, "properties");
    if (!declared.is(Kind::dict)) continue;
    for (const DictEntry& entry : entries(declared)) {
      if (shape.properties.size() == kMostProperties) return note(schema, "properties", "too many");
      const std::string_view name = leaf_text(entry.key);
      if (find(shape.properties, name) == nullptr) shape.properties.push_back({std::string(name)});
    }
  }
  for (const Value schema : leaf.all) {
    const Value required = get(schema, "required");
    if (!required.is_sequence()) continue;
    for (const Value name : items(required)) {
      if (!name.is_string()) continue;
      if (!context_.shared.spend(1 + shape.properties.size() / 64)) return note(schema, "required", "too many");
      Property* known = find(shape.properties, leaf_text(name));
      if (known == nullptr && shape.properties.size() == kMostProperties) return note(schema, "required", "too many");
      if (known == nullptr) known = &shape.properties.emplace_back(Property{std::string(leaf_text(name))});
      known->required = true;
    }
  }
}

/// What each schema says of the member: by its name, by a pattern, or as one of the others.
void Schema::decide_property(const Leaf& leaf, Property& property) {
  context_.shared.spend(1 + leaf.all.size());
  const auto take = [&](Value schema) {
    property.possible = property.possible && !is_false(schema);
    property.schemas.push_back(schema);
  };
  for (const Value schema : leaf.all) {
    bool named = false;
    if (const Value declared = get(schema, "properties"); declared.is(Kind::dict)) {
      const Value here = get(declared, property.name);
      named = !here.is_undefined();
      if (named) take(here);
    }
    if (const Value patterns = get(schema, "patternProperties"); patterns.is(Kind::dict)) {
      for (const DictEntry& entry : entries(patterns)) {
        if (!matches(schema, leaf_text(entry.key), property.name)) continue;
        named = true;
        take(entry.value);
      }
    }
    const Value others = get(schema, "additionalProperties");
    if (!named && !others.is_undefined()) take(others);
  }
}

/// JSON Schema allows members that it does not name. A model that may write any invents some, so without `open` others
/// are allowed only if a schema says something of them, or names no member at all and would allow only `{}`.
void Schema::decide_extra(const Leaf& leaf, Shape& shape) {
  bool asked = false, declared = false, forbidden = false;
  for (const Value schema : leaf.all) {
    const Value others = get(schema, "additionalProperties");
    const bool has_patterns = get(schema, "patternProperties").is(Kind::dict);
    declared = declared || get(schema, "properties").is(Kind::dict);
    asked = asked || has_patterns || (!others.is_undefined() && !is_false(others));
    forbidden = forbidden || (is_false(others) && !has_patterns);
    if (!others.is_undefined()) shape.extra_schemas.push_back(others);
  }
  shape.extra = !forbidden && (asked || context_.open || !declared);
}

/// A context-free grammar counts only by a rule for each count. Of the counts that schemas have in practice, three need
/// none: all that is required and nothing else, at least one, and more than can be.
void Schema::count_properties(const Leaf& leaf, Shape& shape) {
  const auto required = static_cast<std::uint32_t>(
      std::count_if(shape.properties.begin(), shape.properties.end(), [](const Property& p) { return p.required; }));
  const std::uint32_t min = count(leaf, "minProperties", true).value_or(0);
  const std::uint32_t max = count(leaf, "maxProperties", false).value_or(kUnbounded);
  if (min > required) {
    shape.not_empty = true;
    if (min > 1) note(leaf.all[0], "minProperties", "only one member is sure");
  }
  if (max == required) {
    shape.extra = false;
    std::erase_if(shape.properties, [](const Property& p) { return !p.required; });
  } else if (max < required) {
    shape.impossible = true;
  } else if (shape.extra || max < shape.properties.size()) {
    if (max != kUnbounded) note(leaf.all[0], "maxProperties", "members are not counted");
  }
}

/// The order matters: members are found before each is decided, and what others there may be before all are counted.
Shape Schema::shape(const Leaf& leaf) {
  Shape shape;
  if (!leaf.all.empty()) shape.schema = leaf.all[0];
  find_properties(leaf, shape);
  for (Property& property : shape.properties) {
    decide_property(leaf, property);
    shape.impossible = shape.impossible || (property.required && !property.possible);
  }
  decide_extra(leaf, shape);
  count_properties(leaf, shape);
  return shape;
}

std::vector<Shape> Schema::shapes(const Schemas& schemas) {
  std::vector<Shape> all;
  for (const Leaf& leaf : leaves(schemas)) {
    if ((types(leaf) & kObject) == 0) continue;
    note_unread(leaf);
    Shape here = shape(leaf);
    if (!here.impossible) all.push_back(std::move(here));
  }
  return all;
}

// ---- in order

/// An optional member that no value fits is left out; a required one leaves nothing of the object. If a template sorts
/// keys, its model has seen them sorted: both orders are allowed, each as a whole.
NodeId Schema::members(const Shape& shape, const MemberWriter& writer, std::string_view name) {
  if (shape.impossible) return ir_.never();
  Members all;
  for (const Property& property : shape.properties) {
    const NodeId node = property.possible ? writer.member(property) : ir_.never();
    if (node == ir_.never() && property.required) return ir_.never();
    if (node != ir_.never()) all.declared.push_back({node, property.required, property.name});
  }
  all.other = shape.extra ? writer.extra(shape) : ir_.never();
  const NodeId any = context_.any_order ? in_any_order(shape, writer, all, name) : kNone;
  if (any != kNone) return any;
  const NodeId declared = in_order(shape, writer, all, name);
  if (!context_.sorted) return declared;
  std::sort(all.declared.begin(), all.declared.end(),
            [](const Members::One& a, const Members::One& b) { return a.name < b.name; });
  return ir_.choice({in_order(shape, writer, all, name), declared});
}

/// As long as all may be missing, each may be the first; behind a first, each brings its separator along.
NodeId Schema::in_order(const Shape& shape, const MemberWriter& writer, const Members& all, std::string_view name) {
  const std::vector<Members::One>& parts = all.declared;
  const NodeId other = all.other;
  const NodeId others = ir_.repeat(ir_.sequence({writer.separator, other}), 0, kUnbounded);
  const auto with_separator = [&](const Members::One& part) {
    const NodeId node = ir_.sequence({writer.separator, part.node});
    return part.required ? node : ir_.optional(node);
  };
  std::size_t first_required = 0;
  while (first_required < parts.size() && !parts[first_required].required) ++first_required;
  std::vector<NodeId> sure;  // behind the first required member, all in a row
  for (std::size_t i = first_required + 1; i < parts.size(); ++i) sure.push_back(with_separator(parts[i]));
  sure.push_back(others);
  NodeId after = ir_.sequence(sure);
  std::vector<NodeId> ways;
  if (first_required < parts.size()) {
    ways.push_back(ir_.sequence({parts[first_required].node, after}));
    after = ir_.sequence({with_separator(parts[first_required]), after});
  } else {
    ways.push_back(ir_.sequence({other, others}));
    if (!shape.not_empty) ways.push_back(ir_.empty());
  }
  for (std::size_t i = first_required; i-- > 0;) {
    if (first_required > 2 && i + 1 < first_required) {  // a rule each, so that size does not grow with the square
      const RuleId rule = ir_.add_rule(std::string(name) + "-rest");
      ir_.set_body(rule, after);
      after = ir_.rule(rule);
    }
    ways.push_back(ir_.sequence({parts[i].node, after}));
    after = ir_.sequence({with_separator(parts[i]), after});
  }
  std::reverse(ways.begin(), ways.end());
  return ir_.choice(ways);
}

// ---- as an object of the style

/// Members by patterns of their names, and all others. "All others" means a name that is none of the declared ones; it
/// cannot mean one that no pattern matches, since a grammar cannot express what a regular expression does not match at
/// a size that an engine takes. A note says so.
NodeId Schema::extra_member(const Style& style, const Leaf& leaf, const Shape& shape, std::string_view name) {
  std::vector<std::string> taken;
  for (const Property& property : shape.properties) {
    if (property.name.size() <= kLongestName) taken.push_back(property.name);
  }
  std::vector<NodeId> ways;
  bool closed = false, patterns_hold = true;
  const std::string inner = std::string(name) + "-extra";
  for (const Value schema : leaf.all) {
    const Value patterns = get(schema, "patternProperties");
    if (!patterns.is(Kind::dict)) continue;
    closed = closed || is_false(get(schema, "additionalProperties")) ||
             (!context_.open && get(schema, "additionalProperties").is_undefined());
    if (entries(patterns).size() > 1)
      note(schema, "patternProperties", "a name that several patterns match is held to one");
    for (const DictEntry& entry : entries(patterns)) {
      std::string why;
      const NodeId key = style.key_of([&](const Unit& unit) {
        const auto regex = parse_regex(ir_, unit, leaf_text(entry.key), why);
        return regex ? regex->node : ir_.never();
      });
      if (!why.empty()) note(schema, "patternProperties", why);
      patterns_hold = patterns_hold && why.empty();
      const NodeId item = value(style, {entry.value}, inner);
      if (item != ir_.never()) ways.push_back(ir_.sequence({key, item}));
    }
    if (!closed) note(schema, "patternProperties", "names that match are not kept from the others");
  }
  if (!closed || !patterns_hold) {
    Schemas schemas = closed ? Schemas() : shape.extra_schemas;
    const NodeId item = schemas.empty() ? any(style) : value(style, schemas, inner);
    if (item != ir_.never()) {
      if (style.kind() == Style::Kind::bare && !leaf.all.empty())
        note(leaf.all[0], "additionalProperties",
             "names without quotes have no white space, quotes, brackets and ,:<>|", true);
      ways.push_back(ir_.sequence({style.key_except(taken), item}));
    }
  }
  return ir_.choice(ways);
}

// propertyNames is held to only where every name is free. Else a note says that it is not.
NodeId Schema::object(const Style& style, const Leaf& leaf, std::string_view name) {
  Shape here = shape(leaf);
  std::vector<NodeId> names;
  for (const Value schema : leaf.all) {
    const Value rule = get(schema, "propertyNames");
    if (rule.is_undefined()) continue;
    Leaf key;
    add(key, {rule});
    const auto inside = key.impossible ? nullptr : content(key);
    if (key.impossible) here.extra = false, here.properties.clear();
    const bool simple = key.choices.empty() && here.properties.empty() && !has(key, "enum") && !has(key, "const");
    if (inside && simple && here.extra) names.push_back(style.key_of(inside));
    if (!key.impossible && (!simple || !inside || names.size() > 1))
      note(schema, "propertyNames", "only lengths, patterns and formats of free names");
  }
  const MemberWriter writer{
      [&](const Property& property) {
        const std::optional<NodeId> key = style.key(property.name);
        if (!key) note(leaf.all[0], "properties", "a name that this format cannot write is left out", true);
        const NodeId item = key ? value(style, property.schemas, std::string(name) + "-" + property.name) : ir_.never();
        return key ? ir_.sequence({*key, item}) : ir_.never();
      },
      [&](const Shape& shape) {
        if (names.empty()) return extra_member(style, leaf, shape, name);
        return ir_.sequence({names[0], value(style, shape.extra_schemas, std::string(name) + "-extra")});
      },
      style.comma()};
  return style.bracketed('{', members(here, writer, name), '}');
}

}  // namespace parlance::grammar
