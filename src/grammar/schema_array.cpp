// Arrays: items in front with schemas of their own, then any number of the rest. Begin reading at Schema::array.
#include <algorithm>

#include "grammar/schema.h"

namespace parlance::grammar {
namespace {

constexpr std::size_t kMostInFront = 64;

}  // namespace

/// For notations with a tag for each item, which have one kind of item: an array with items in front that differ is
/// left out, and cannot be written there.
std::vector<Items> Schema::arrays(const Schemas& schemas) {
  std::vector<Items> all;
  for (const Leaf& leaf : leaves(schemas)) {
    if ((types(leaf) & kArray) == 0) continue;
    note_unread(leaf);
    Items here{{}, count(leaf, "minItems", true).value_or(0), count(leaf, "maxItems", false).value_or(kUnbounded)};
    bool plain = true;
    for (const Value schema : leaf.all) {
      const Value item = get(schema, "items");
      plain = plain && !item.is_sequence() && get(schema, "prefixItems").is_undefined();
      if (!item.is_undefined()) here.schemas.push_back(item);
    }
    if (plain) all.push_back(std::move(here));
  }
  return all;
}

/// prefixItems of draft 2020-12 and the list of `items` before it mean the same. Schemas that all hold may have fronts
/// of different lengths: where one has ended, its schema for the rest holds for the items that another still names.
NodeId Schema::array(const Style& style, const Leaf& leaf, std::string_view name) {
  std::vector<Schemas> front;
  Schemas rest;
  for (const Value schema : leaf.all) {
    Value prefix = get(schema, "prefixItems");
    Value others = get(schema, "items");
    if (prefix.is_undefined() && others.is_sequence()) {  // before draft 2020-12
      prefix = others;
      others = get(schema, "additionalItems");
    }
    if (!prefix.is_sequence() || items(prefix).size() > kMostInFront) {
      if (prefix.is_sequence()) note(schema, "prefixItems", "too many");
      continue;
    }
    if (front.size() < items(prefix).size()) front.resize(items(prefix).size());
  }
  for (const Value schema : leaf.all) {
    const bool old = get(schema, "prefixItems").is_undefined() && get(schema, "items").is_sequence();
    const Value prefix = get(schema, old ? "items" : "prefixItems");
    const Value others = get(schema, old ? "additionalItems" : "items");
    const std::size_t own = prefix.is_sequence() ? items(prefix).size() : 0;
    for (std::size_t i = 0; i < front.size(); ++i) {
      if (i < own) {
        front[i].push_back(items(prefix)[i]);
      } else if (!others.is_undefined()) {
        front[i].push_back(others);
      }
    }
    if (!others.is_undefined()) rest.push_back(others);
    const Value unique = get(schema, "uniqueItems");
    const bool matters = count(leaf, "maxItems", false).value_or(2) > 1;
    if (unique.is(Kind::boolean) && unique.integer != 0 && matters) note(schema, "uniqueItems", "not held to");
  }
  const std::uint32_t min = count(leaf, "minItems", true).value_or(0);
  const std::uint32_t max = count(leaf, "maxItems", false).value_or(kUnbounded);
  if (min > max) return ir_.never();
  const std::string item_name = std::string(name) + "-item";
  const auto in_front = static_cast<std::uint32_t>(front.size());
  // From the end: what may stand behind so many items.
  NodeId tail = ir_.empty();
  if (max > in_front) {
    const NodeId item = value(style, rest, item_name);
    const std::uint32_t least = min > in_front ? min - in_front : 0;
    const std::uint32_t most = max == kUnbounded ? kUnbounded : max - in_front;
    const NodeId more = ir_.sequence({style.comma(), item});
    if (in_front > 0) {
      tail = ir_.repeat(more, least, most);
    } else {
      tail =
          ir_.sequence({item, ir_.repeat(more, least > 0 ? least - 1 : 0, most == kUnbounded ? kUnbounded : most - 1)});
      if (least == 0) tail = ir_.optional(tail);
    }
  }
  for (std::uint32_t i = in_front; i-- > 0;) {
    if (i >= max) {
      tail = ir_.empty();
      continue;
    }
    const NodeId item = value(style, front[i], item_name + "-" + std::to_string(i));
    const NodeId here = ir_.sequence({i > 0 ? style.comma() : ir_.empty(), item, tail});
    tail = i < min ? here : ir_.optional(here);
  }
  return style.bracketed('[', tail, ']');
}

}  // namespace parlance::grammar
