// Taking schemas apart: $ref and allOf join the schemas that hold, anyOf and oneOf make alternatives of them.
#include <algorithm>
#include <iterator>

#include "grammar/schema.h"

namespace parlance::grammar {
namespace {

constexpr std::size_t kMostLeaves = 64;
constexpr std::size_t kMostSchemas = 256;  ///< that hold at once
constexpr std::size_t kMostNotes = 1000;

/// Everything else annotates.
constexpr std::string_view kAsserting[] = {"$dynamicRef",
                                           "$recursiveRef",
                                           "$ref",
                                           "additionalItems",
                                           "additionalProperties",
                                           "allOf",
                                           "anyOf",
                                           "const",
                                           "contains",
                                           "dependencies",
                                           "dependentRequired",
                                           "dependentSchemas",
                                           "enum",
                                           "exclusiveMaximum",
                                           "exclusiveMinimum",
                                           "format",
                                           "if",
                                           "items",
                                           "maxItems",
                                           "maxLength",
                                           "maxProperties",
                                           "maximum",
                                           "minItems",
                                           "minLength",
                                           "minProperties",
                                           "minimum",
                                           "multipleOf",
                                           "not",
                                           "nullable",
                                           "oneOf",
                                           "pattern",
                                           "patternProperties",
                                           "prefixItems",
                                           "properties",
                                           "propertyNames",
                                           "required",
                                           "type",
                                           "unevaluatedItems",
                                           "unevaluatedProperties",
                                           "uniqueItems"};

bool is_asserting(std::string_view keyword) {
  return std::binary_search(std::begin(kAsserting), std::end(kAsserting), keyword);
}

bool asserts(Value schema) {
  return std::any_of(entries(schema).begin(), entries(schema).end(),
                     [](const DictEntry& entry) { return is_asserting(leaf_text(entry.key)); });
}

/// Such a schema adds nothing to a leaf. It is kept aside: two ways to the same schema then have the same leaf, and
/// with it one rule.
bool only_refers(Value schema) {
  return std::all_of(entries(schema).begin(), entries(schema).end(), [](const DictEntry& entry) {
    const std::string_view keyword = leaf_text(entry.key);
    return keyword == "$ref" || !is_asserting(keyword);
  });
}

/// By address. This also ends a $ref that leads back to itself.
bool holds(const Schemas& all, Value schema) {
  return std::any_of(all.begin(), all.end(), [&](Value other) { return other.dict == schema.dict; });
}

}  // namespace

/// Bounded, since a hostile schema can have a fault in each of a million members.
void Notes::add(std::string path, std::string_view keyword, std::string_view why, bool left_out) {
  if (notes_.size() == kMostNotes || !seen_.emplace(path, keyword, why).second) return;
  notes_.push_back({std::move(path), std::string(keyword), std::string(why), left_out});
}

void Schema::note(Value schema, std::string_view keyword, std::string_view why, bool left_out) {
  if (schema.is(Kind::dict)) schema = Value::of_dict(schema.dict, schema.dict->origin);
  context_.notes.add(std::string(context_.path) + context_.document.path_of(schema), keyword, why, left_out);
}

bool Schema::has(const Leaf& leaf, std::string_view keyword) const {
  return std::any_of(leaf.all.begin(), leaf.all.end(), [&](Value s) { return !get(s, keyword).is_undefined(); });
}

/// What one schema brings into a leaf. $ref stands beside other keywords and adds to them (draft 2019-09); before that
/// it replaced them. $dynamicRef and $recursiveRef need the path of evaluation, so they are followed like $ref, with a
/// note.
void Schema::add_dict(Leaf& leaf, Value schema, std::vector<Value>& pending) {
  if (!asserts(schema)) return;
  (only_refers(schema) ? leaf.followed : leaf.all).push_back(schema);  // two ways to the same schema are one
  for (const std::string_view keyword : {"$ref", "$dynamicRef", "$recursiveRef"}) {
    const Value reference = get(schema, keyword);
    if (!reference.is_string()) {
      if (!reference.is_undefined() && !reference.is_none())
        note(schema, keyword, "no text: not followed, not held to");
      continue;
    }
    const Value target = references_.resolve(leaf_text(reference));
    if (target.is_undefined()) {
      note(schema, keyword, "'" + std::string(leaf_text(reference)) + "' is not in this document");
    } else {
      pending.push_back(target);
      if (keyword != "$ref") note(schema, keyword, "followed as $ref, whatever the scope");
    }
  }
  if (const Value all = get(schema, "allOf"); all.is_sequence())
    pending.insert(pending.end(), items(all).begin(), items(all).end());
  for (const std::string_view keyword : {"anyOf", "oneOf"}) {
    if (get(schema, keyword).is_sequence()) leaf.choices.emplace_back(schema, keyword);
  }
}

/// Depth first and in the order of the schemas, from a stack: members keep the order in which a reader of the schema
/// meets them.
void Schema::add(Leaf& leaf, const Schemas& schemas) {
  std::vector<Value> pending(schemas.rbegin(), schemas.rend());
  while (!pending.empty() && !leaf.impossible) {
    const Value schema = pending.back();
    pending.pop_back();
    if (schema.is(Kind::boolean)) leaf.impossible = schema.integer == 0;
    if (!schema.is(Kind::dict) || holds(leaf.all, schema) || holds(leaf.followed, schema)) continue;
    if (leaf.all.size() + leaf.followed.size() == kMostSchemas)
      return note(schema, "allOf", "too many schemas at once");
    std::vector<Value> more;
    add_dict(leaf, schema, more);
    pending.insert(pending.end(), more.rbegin(), more.rend());
  }
}

/// Every way to choose. The same schemas twice, as where a choice leads back to itself, are one way.
std::vector<Schema::Leaf> Schema::leaves(const Schemas& schemas) {
  std::vector<Leaf> open(1), done;
  std::set<std::vector<const void*>> seen;
  add(open[0], schemas);
  while (!open.empty()) {
    Leaf leaf = std::move(open.back());
    open.pop_back();
    if (leaf.impossible) continue;
    if (leaf.choices.empty()) {
      std::vector<const void*> key;
      for (const Value schema : leaf.all) key.push_back(schema.dict);
      std::sort(key.begin(), key.end());
      if (seen.insert(std::move(key)).second) done.push_back(std::move(leaf));
      continue;
    }
    const auto [schema, keyword] = leaf.choices.back();
    leaf.choices.pop_back();
    const Value alternatives = get(schema, keyword);
    const std::size_t ways = items(alternatives).size();
    if (open.size() + done.size() + ways > kMostLeaves || !context_.shared.spend(ways * (2 + leaf.all.size() / 8))) {
      note(schema, keyword, "too many alternatives");
      open.push_back(std::move(leaf));
      continue;
    }
    if (keyword == "oneOf" && may_overlap(alternatives)) note(schema, keyword, "read as anyOf: more than one may hold");
    for (std::size_t i = ways; i-- > 0;) {
      Leaf& chosen = open.emplace_back(leaf);
      add(chosen, {items(alternatives)[i]});
    }
  }
  return done;
}

// ---- oneOf

/// oneOf forbids what several alternatives allow, and a grammar cannot say that. Where all alternatives differ for
/// certain, oneOf is anyOf and needs no note. Pairs are compared, hence the bound; more than 32 count as overlapping.
bool Schema::may_overlap(Value alternatives) {
  const auto [known, is_new] = overlapping_.try_emplace(alternatives.list, true);
  const auto all = items(alternatives);
  if (!is_new || all.size() > 32) return known->second;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!differ(all[i], all[j])) return true;
    }
  }
  known->second = false;
  return false;
}

/// Whether two alternatives can be told apart at a glance: by type, by a constant, or by that of a required member.
bool Schema::differ(Value a, Value b) {
  constexpr std::size_t kSteps = 20;
  if (!context_.shared.spend(kSteps)) return false;
  Leaf first, second;
  add(first, {a});
  add(second, {b});
  if (first.impossible || second.impossible) return true;
  if (!first.choices.empty() || !second.choices.empty()) return false;
  const Types both = types(first) & types(second);
  if (both == 0) return true;
  const auto word = [this](const Leaf& leaf) -> std::string_view {
    for (const Value s : leaf.all) {
      Value constant = get(s, "const");
      if (const Value one = get(s, "enum"); one.is_sequence() && items(one).size() == 1) constant = items(one)[0];
      if (constant.is_string()) return leaf_text(constant);
    }
    return {};
  };
  if (const auto x = word(first), y = word(second); !x.empty() && !y.empty()) return x != y;
  if (both != kObject) return false;
  const Shape one = shape(first), other = shape(second);
  if (!context_.shared.spend(one.properties.size() * other.properties.size() / 16)) return false;
  for (const Property& p : one.properties) {
    for (const Property& q : other.properties) {
      if (p.name != q.name || !p.required || !q.required) continue;
      Leaf x, y;
      add(x, p.schemas);
      add(y, q.schemas);
      if (!word(x).empty() && !word(y).empty() && word(x) != word(y)) return true;
    }
  }
  return false;
}

}  // namespace parlance::grammar
