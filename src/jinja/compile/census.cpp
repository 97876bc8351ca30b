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
  note_mention(&name, names.id_of(name));
  if (name.access != Access::load) {
    name.inside |= kAssignment;
    census.assigned.push_back(name.name);
  }
  if (name.name.size() < kShortest || name.name.size() > kLongest) return;
  census.special_names |= special_bit(name.name);
  if (name.access == Access::load || name.name != kLoop) return;
  census.assigns_loop = census.assigns_loop || name.access == Access::store;
  census.binds_loop = true;
}

/// What a node is by itself, without its children.
void count_one(const Node* node, NameTable& names, Census& census) {
  switch (node->kind) {
    case NodeKind::namespace_ref: return note_mention(node, names.intern(as<NamespaceRef>(node).name));
    case NodeKind::macro: census.binds_loop = census.binds_loop || as<Macro>(node).name == kLoop; break;
    case NodeKind::block:
      census.blocks.push_back(&as<Block>(node));
      census.has_scoped_block = census.has_scoped_block || as<Block>(node).scoped;
      node->mentions = ~std::uint64_t{0};
      node->inside = kOtherName | kBlock;
      break;
    case NodeKind::call_block:
    case NodeKind::include:
    case NodeKind::extends:
    case NodeKind::import:
    case NodeKind::from_import: break;
    default: return;
  }
  node->inside |= kAssignment;
}

void count(const Node* node, NameTable& names, Census& census) {
  if (node->kind == NodeKind::name) return count_name(as<Name>(node), names, census);
  if (!is_expression(node->kind) || node->kind == NodeKind::namespace_ref) count_one(node, names, census);
  for_each_child(node, [&](const Node* child) {
    count(child, names, census);
    node->mentions |= child->mentions;
    node->inside |= child->inside;
  });
}

}  // namespace

bool Census::mentions(std::string_view special) const { return (special_names & special_bit(special)) != 0; }

Census take_census(const Nodes& nodes, NameTable& names) {
  Census census;
  for (const Node* node : nodes) count(node, names, census);
  return census;
}

}  // namespace parlance::jinja
