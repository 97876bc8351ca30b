// Arrays: items in front with schemas of their own, then any number of the rest. Begin reading at Schema::array.
#include <algorithm>

#include "grammar/schema.h"

namespace parlance::grammar {
namespace {

constexpr std::size_t kMostInFront = 64;

/// What one schema says of items: schemas of those in front, and of the rest. prefixItems of draft 2020-12 and the list
/// of `items` before it mean the same.
struct ItemsOf {
  explicit ItemsOf(Value schema) : front(member_value(schema, "prefixItems")), rest(member_value(schema, "items")) {
    if (!front.is_undefined() || !rest.is_sequence()) return;
    front = rest;
    rest = member_value(schema, "additionalItems");
  }
  std::size_t in_front() const { return front.is_sequence() ? items(front).size() : 0; }

  Value front, rest;
};

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

/// Schemas that all hold may have fronts of different lengths: where one has ended, its schema for the rest holds for
/// the items that another still names.
void Schema::read_items(const Leaf& leaf, std::vector<Schemas>& front, Schemas& rest) {
  std::size_t longest = 0;
  for (const Value schema : leaf.all) {
    const std::size_t size = ItemsOf(schema).in_front();
    if (size > kMostInFront) {
      note(schema, "prefixItems", "too many");
    } else {
      longest = std::max(longest, size);
    }
  }
  front.resize(longest);
  const bool several = count(leaf, "maxItems", false).value_or(2) > 1;
  for (const Value schema : leaf.all) {
    const ItemsOf here(schema);
    for (std::size_t i = 0; i < longest; ++i) {
      if (i < here.in_front()) {
        front[i].push_back(items(here.front)[i]);
      } else if (!here.rest.is_undefined()) {
        front[i].push_back(here.rest);
      }
    }
    if (!here.rest.is_undefined()) rest.push_back(here.rest);
    const Value unique = get(schema, "uniqueItems");
    if (several && unique.is(Kind::boolean) && unique.integer != 0) note(schema, "uniqueItems", "not held to");
  }
}

/// The rest of the items, `least` to `most` of them; commas stand before each, but for the first of all.
NodeId Schema::more_items(const Style& style, NodeId item, std::uint32_t least, std::uint32_t most, bool first) {
  const NodeId more = ir_.sequence({style.comma(), item});
  if (!first) return ir_.repeat(more, least, most);
  const NodeId some =
      ir_.sequence({item, ir_.repeat(more, least > 0 ? least - 1 : 0, most == kUnbounded ? kUnbounded : most - 1)});
  return least == 0 ? ir_.optional(some) : some;
}

NodeId Schema::array(const Style& style, const Leaf& leaf, std::string_view name) {
  std::vector<Schemas> front;
  Schemas rest;
  read_items(leaf, front, rest);
  const std::uint32_t min = count(leaf, "minItems", true).value_or(0);
  const std::uint32_t max = count(leaf, "maxItems", false).value_or(kUnbounded);
  if (min > max) return ir_.never();
  const std::string item_name = std::string(name) + "-item";
  const auto in_front = static_cast<std::uint32_t>(front.size());
  // From the end: what may stand behind so many items.
  NodeId tail = ir_.empty();
  if (max > in_front) {
    const std::uint32_t least = min > in_front ? min - in_front : 0;
    const std::uint32_t most = max == kUnbounded ? kUnbounded : max - in_front;
    tail = more_items(style, value(style, rest, item_name), least, most, in_front == 0);
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
