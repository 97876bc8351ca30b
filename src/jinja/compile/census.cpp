// take_census: one visit to each node. Recursion is bounded by the parser's kMaxTreeHeight.
#include "jinja/compile/census.h"

#include <algorithm>
#include <iterator>

#include "jinja/syntax/children.h"

namespace parlance::jinja {
namespace {

constexpr std::string_view kLoop = "loop";
constexpr std::string_view kSpecialNames[] = {kLoop, "self", "super", "caller", "kwargs", "varargs"};

std::uint8_t special_bit(std::string_view name) {
  const auto* const found = std::find(std::begin(kSpecialNames), std::end(kSpecialNames), name);
  return found == std::end(kSpecialNames) ? 0 : static_cast<std::uint8_t>(1u << (found - kSpecialNames));
}

/// The lengths are checked first, since nearly all names of a template are not special and this runs for each of them.
void count_name(const Name& name, NameTable& names, Census& census) {
  constexpr std::size_t kShortest = 4, kLongest = 7;
  names.id_of(name);
  if (name.access != Access::load) census.assigned.push_back(name.name);
  if (name.name.size() < kShortest || name.name.size() > kLongest) return;
  census.special_names |= special_bit(name.name);
  if (name.access == Access::load || name.name != kLoop) return;
  census.assigns_loop = census.assigns_loop || name.access == Access::store;
  census.binds_loop = true;
}

void count(const Node* node, NameTable& names, Census& census) {
  if (node->kind == NodeKind::name) return count_name(as<Name>(node), names, census);
  if (node->kind == NodeKind::block) {
    census.blocks.push_back(&as<Block>(node));
    census.has_scoped_block = census.has_scoped_block || as<Block>(node).scoped;
  }
  if (node->kind == NodeKind::macro) census.binds_loop = census.binds_loop || as<Macro>(node).name == kLoop;
  for_each_child(node, [&](const Node* child) { count(child, names, census); });
}

}  // namespace

bool Census::mentions(std::string_view special) const { return (special_names & special_bit(special)) != 0; }

Census take_census(const Nodes& nodes, NameTable& names) {
  Census census;
  for (const Node* node : nodes) count(node, names, census);
  return census;
}

}  // namespace parlance::jinja
