// Taking out what can never come to an end. Begin reading at Ir::prune.
#include <algorithm>

#include "grammar/ir.h"

namespace parlance::grammar {
namespace {

/// Who stands above whom: the parents of node n are `of[from[n]]` up to `of[from[n + 1]]`.
struct Parents {
  std::vector<std::uint32_t> from;
  std::vector<NodeId> of;

  explicit Parents(const Ir& ir) : from(ir.size() + 1) {
    const auto each_edge = [&ir](auto visit) {
      for (NodeId id = 0; id < ir.size(); ++id) ir.for_each_child(id, [&](NodeId child) { visit(id, child); });
    };
    each_edge([this](NodeId, NodeId child) { ++from[child + 1]; });
    for (std::size_t i = 1; i < from.size(); ++i) from[i] += from[i - 1];
    of.resize(from.back());
    std::vector<std::uint32_t> next(from.begin(), from.end() - 1);
    each_edge([&](NodeId parent, NodeId child) { of[next[child]++] = parent; });
  }
};

}  // namespace

/// Of each node, whether it has a text; from those that have one by themselves upwards.
std::vector<bool> Ir::productive() const {
  const Parents parents(*this);
  std::vector<bool> has_text(size());
  std::vector<std::uint32_t> missing(size());  // children that a sequence waits for
  std::vector<NodeId> found;
  const auto find = [&](NodeId id) {
    if (has_text[id]) return;
    has_text[id] = true;
    found.push_back(id);
  };
  for (NodeId id = 0; id < size(); ++id) {
    const Node& n = nodes_[id];
    missing[id] = n.size;
    const bool by_itself = n.op == Op::literal || n.op == Op::chars || (n.op == Op::sequence && n.size == 0) ||
                           (n.op == Op::repeat && n.min == 0) || (n.op == Op::text && n.min != 0);
    if (by_itself) find(id);
  }
  while (!found.empty()) {
    const NodeId child = found.back();
    found.pop_back();
    for (std::uint32_t i = parents.from[child]; i < parents.from[child + 1]; ++i) {
      const NodeId parent = parents.of[i];
      if (nodes_[parent].op != Op::sequence || --missing[parent] == 0) find(parent);
    }
  }
  return has_text;
}

/// Only the number of children shrinks; the pools keep their bytes, so that numbers of nodes stay what they are. A stop
/// without a target is forbidden text, which is what a marker behind which nothing can follow amounts to.
std::vector<bool> Ir::prune() {
  std::vector<bool> has_text = productive();
  for (Node& n : nodes_) {
    if (n.op == Op::choice) {
      const auto children = std::span(children_).subspan(n.begin, n.size);
      const auto kept =
          std::stable_partition(children.begin(), children.end(), [&](NodeId child) { return has_text[child]; });
      n.size = static_cast<std::uint32_t>(kept - children.begin());
    } else if (n.op == Op::repeat && n.min == 0 && !has_text[children_[n.begin]]) {
      n = {Op::sequence};
    } else if (n.op == Op::text) {
      for (Stop& stop : std::span(stops_).subspan(n.begin, n.size)) {
        if (stop.target != kNone && !has_text[stop.target]) stop.target = kNone;
      }
    }
  }
  return has_text;
}

}  // namespace parlance::grammar
