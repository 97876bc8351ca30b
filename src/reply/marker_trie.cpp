// Building a MarkerTrie; format.cpp keeps it below 2^16 nodes.
#include "reply/marker_trie.h"

namespace parlance::reply {

namespace {
constexpr std::size_t kMost = 0xFFFF;  // what validate() accepts never comes near
}

MarkerTrie::Node MarkerTrie::grow(Node from, char c) {
  if (const Node there = step(from, c); there != kRoot) return there;
  const auto made = static_cast<Node>(nodes_.size());
  nodes_.push_back({c, kRoot, nodes_[from].child, 0});
  nodes_[from].child = made;
  return made;
}

void MarkerTrie::add(std::string_view text, const Mark& mark) {
  if (text.empty() || nodes_.size() + text.size() > kMost) return;
  first_[static_cast<unsigned char>(text.front())] = true;
  Node node = kRoot;
  for (const char c : text) node = grow(node, c);
  if (has_mark(node)) return;
  nodes_[node].mark = static_cast<std::uint16_t>(marks_.size());
  marks_.push_back(mark);
}

}  // namespace parlance::reply
