// The facts of each kind of node. A rule that is being looked at says nothing yet to what leads back to it. Begin
// reading at Borders::of.
#include "grammar/borders.h"

#include <algorithm>

#include "base/utf8.h"

namespace parlance::grammar {

/// A merge of two sorted lists, since this runs for each node of a grammar.
std::vector<Range> merged(std::vector<Range> a, const std::vector<Range>& b) {
  if (b.empty() || a == b) return a;
  if (a.empty()) return b;
  std::vector<Range> out;
  out.reserve(a.size() + b.size());
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    const Range& next = y == b.end() || (x != a.end() && x->first <= y->first) ? *x++ : *y++;
    if (!out.empty() && next.first <= out.back().last + 1)
      out.back().last = std::max(out.back().last, next.last);
    else
      out.push_back(next);
  }
  return out;
}

bool overlap(std::span<const Range> a, std::span<const Range> b) {
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    if (x->last < y->first)
      ++x;
    else if (y->last < x->first)
      ++y;
    else
      return true;
  }
  return false;
}

/// Facts of a text of `a` with one of `b` behind it. What may follow a text of both is what may follow b; where b may
/// be empty, a may be all there is, and b's beginning follows it.
Borders::Facts Borders::join(const Facts& a, const Facts& b) {
  Facts facts;
  facts.may_be_empty = a.may_be_empty && b.may_be_empty;
  facts.first = a.may_be_empty ? merged(a.first, b.first) : a.first;
  facts.all = merged(a.all, b.all);
  const bool unclear = overlap(a.more, b.first);  // where a ends may depend on what b is
  facts.more = b.may_be_empty ? merged(merged(a.more, b.first), b.more) : b.more;
  if (unclear) facts.more = merged(facts.more, b.all);
  return facts;
}

/// The empty text of one alternative can be followed by whatever the other begins with. If both begin alike, a lexer
/// cannot tell which it is in, so anything of either may follow.
Borders::Facts Borders::either(const Facts& a, const Facts& b) {
  Facts facts{a.may_be_empty || b.may_be_empty, merged(a.first, b.first), merged(a.more, b.more), merged(a.all, b.all)};
  if (a.may_be_empty) facts.more = merged(facts.more, b.first);
  if (b.may_be_empty) facts.more = merged(facts.more, a.first);
  if (overlap(a.first, b.first)) facts.more = facts.all;
  return facts;
}

/// What may follow inside of a repeat is its own beginning again. If the two overlap, nothing tells one round from the
/// next, and any of its characters may follow.
Borders::Facts Borders::repeated(const Node& node) {
  const Facts one = of(ir_.children(node)[0]);
  Facts facts = one;
  facts.may_be_empty = node.min == 0 || one.may_be_empty;
  if (node.min != node.max) facts.more = merged(one.more, one.first);
  if (node.max > 1 && overlap(one.more, one.first)) facts.more = one.all;
  return facts;
}

Borders::Facts Borders::of_sequence(std::span<const NodeId> nodes) {
  Facts facts;
  facts.may_be_empty = true;
  for (const NodeId id : nodes) facts = join(facts, of(id));
  return facts;
}

std::vector<Borders::Facts> Borders::of_beginnings(std::span<const NodeId> nodes) {
  std::vector<Facts> found;
  found.reserve(nodes.size());
  for (const NodeId id : nodes) found.push_back(found.empty() ? of(id) : join(found.back(), of(id)));
  return found;
}

Borders::Facts Borders::make(NodeId id) {
  const Node node = ir_.node(id);
  Facts facts;
  switch (node.op) {
    case Op::never: return facts;
    case Op::literal: {
      const std::string_view bytes = ir_.bytes(node);
      for (const char* p = bytes.data(); p != bytes.data() + bytes.size();) {
        const utf8::Decoded c = utf8::decode(p, bytes.data() + bytes.size());
        if (p == bytes.data()) facts.first.push_back({c.code_point, c.code_point});
        facts.all.push_back({c.code_point, c.code_point});
        p += c.size;
      }
      facts.all = normalized(std::move(facts.all));
      return facts;
    }
    case Op::chars:
      facts.first.assign(ir_.ranges(node).begin(), ir_.ranges(node).end());
      facts.all = facts.first;
      return facts;
    case Op::sequence: return of_sequence(ir_.children(node));
    case Op::choice: {
      bool begun = false;
      for (const NodeId child : ir_.children(node)) {
        facts = begun ? either(facts, of(child)) : of(child);
        begun = true;
      }
      return facts;
    }
    case Op::repeat: return repeated(node);
    case Op::rule: return of(ir_.rules()[node.min].body);
    case Op::text: {
      const std::vector<Range> anything = complement({});
      return {node.min != 0, anything, anything, anything};
    }
  }
  return facts;
}

/// Children first, from a stack: a request's schemas may nest in each other without end.
const Borders::Facts& Borders::of(NodeId id) {
  if (const auto known = known_.find(id); known != known_.end()) return known->second;
  std::vector<std::pair<NodeId, bool>> pending{{id, false}};  // true: its children are known
  std::vector<NodeId> made;
  while (!pending.empty()) {
    const auto [node, ready] = pending.back();
    if (ready) {
      pending.pop_back();
      Facts facts = make(node);
      known_[node] = std::move(facts);
      made.push_back(node);
    } else if (!known_.try_emplace(node).second) {
      pending.pop_back();
    } else {
      pending.back().second = true;
      if (ir_.node(node).op == Op::text) continue;
      ir_.for_each_child(node, [&](NodeId child) {
        if (!known_.contains(child)) pending.emplace_back(child, false);
      });
    }
  }
  settle(made);
  return known_[id];
}

/// Recomputes the sets of recursive rules to a fixed point.
void Borders::settle(std::span<const NodeId> made) {
  constexpr int kMostRounds = 16;
  bool changed = std::any_of(made.begin(), made.end(), [this](NodeId id) { return ir_.node(id).op == Op::rule; });
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    for (const NodeId id : made) {
      Facts facts = make(id);
      Facts& known = known_[id];
      if (facts == known) continue;
      known = std::move(facts);
      changed = true;
    }
  }
}

}  // namespace parlance::grammar
