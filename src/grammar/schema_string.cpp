// Strings: pattern, format, lengths. Begin reading at Schema::content.
#include <algorithm>

#include "grammar/schema.h"
#include "grammar/string_formats.h"

namespace parlance::grammar {
namespace {

constexpr std::uint32_t kLargestCount = 1000000;  ///< counts past this are not held to

}  // namespace

/// The smallest or largest of what the schemas say; negative and huge counts say nothing.
/// Digits are counted before they are read: a count may be an integer of any size.
std::optional<std::uint32_t> Schema::count(const Leaf& leaf, std::string_view keyword, bool largest) {
  std::optional<std::uint32_t> found;
  for (const Value schema : leaf.all) {
    const std::optional<Decimal> number = decimal_of(get(schema, keyword));
    if (!number || number->negative || !number->is_integer()) continue;
    if (number->whole.size() > 7 || std::stoul(number->whole) > kLargestCount) {
      note(schema, keyword, "counts past a million are not held to");
      continue;
    }
    const auto here = static_cast<std::uint32_t>(std::stoul(number->whole));
    if (!found || (largest ? here > *found : here < *found)) found = here;
  }
  return found;
}

/// What writes the inside of a string; nothing where the leaf says nothing about it.
std::function<NodeId(const Unit&)> Schema::content(const Leaf& leaf) {
  std::vector<std::pair<Value, std::string_view>> patterns;  // with the keyword
  for (const Value schema : leaf.all) {
    if (get(schema, "pattern").is_string()) patterns.emplace_back(schema, "pattern");
  }
  for (const Value schema : leaf.all) {
    if (!context_.open && get(schema, "format").is_string()) patterns.emplace_back(schema, "format");
  }
  const std::uint32_t min = count(leaf, "minLength", true).value_or(0);
  const std::uint32_t max = count(leaf, "maxLength", false).value_or(kUnbounded);
  if (patterns.empty() && min == 0 && max == kUnbounded) return {};
  return [this, leaf, patterns, min, max](const Unit& unit) {
    const auto any_text = [&] { return ir_.repeat(unit(kAnyChar), min, max); };
    std::optional<Regex> regex;
    for (const auto& [schema, keyword] : patterns) {
      if (regex) {
        note(schema, keyword, "not held to beside another pattern");
        continue;
      }
      const std::string_view text = leaf_text(get(schema, keyword));
      const std::string_view pattern = keyword == "pattern" ? text : pattern_of_format(text);
      std::string why;
      if (pattern.empty() && keyword == "format") {
        if (!is_free_format(text)) note(schema, keyword, "'" + std::string(text) + "' is not known");
        continue;
      }
      regex = parse_regex(ir_, unit, pattern, why);
      if (!regex) note(schema, keyword, why);
    }
    if (!regex) return any_text();
    if (regex->unit != kNone) return ir_.repeat(regex->unit, std::max(min, regex->min), std::min(max, regex->max));
    for (const Value schema : leaf.all) {
      if (regex->min < min && !get(schema, "minLength").is_undefined())
        note(schema, "minLength", "not held to beside a pattern");
      if (regex->max > max && !get(schema, "maxLength").is_undefined())
        note(schema, "maxLength", "not held to beside a pattern");
    }
    return regex->node;
  };
}

/// Tools say the same of many strings: what was made without a note is made once.
NodeId Schema::string(const Style& style, const Leaf& leaf) {
  const auto inside = content(leaf);
  if (!inside) return style.string();
  std::string key = std::to_string(count(leaf, "minLength", true).value_or(0)) + '-' +
                    std::to_string(count(leaf, "maxLength", false).value_or(kUnbounded));
  for (const Value schema : leaf.all) {
    for (const std::string_view keyword : {"pattern", "format"}) {
      const Value value = get(schema, keyword);
      const std::string_view text = value.is_string() ? leaf_text(value) : std::string_view();
      key.append(1, keyword[0]).append(std::to_string(text.size())).append(1, ':').append(text);
    }
  }
  if (const NodeId known = style.known_string(key); known != kNone) return known;
  const std::size_t notes = context_.notes.size();
  const NodeId node = style.string_of(inside);
  if (context_.notes.size() == notes) style.known_string(key) = node;
  return node;
}

}  // namespace parlance::grammar
