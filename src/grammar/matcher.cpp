// Earley's algorithm. An item is a node that began at `origin` and is in some state: children done, rounds, a state of
// its automaton. An item that is done lets those go on that waited for its node there.
#include "grammar/matcher.h"

#include <algorithm>

#include "base/utf8.h"

namespace parlance::grammar {

bool Matcher::accepts(std::string_view text) {
  text_ = text;
  sets_.clear();
  sets_.resize(text.size() + 1);
  accepted_ = false;
  if (!utf8::is_valid(text, false)) return false;
  add(0, {root_, 0, 0});
  run();
  return accepted_;
}

/// A set grows while it is processed, so it is walked by index. Items of later positions are only added, never looked
/// at.
void Matcher::run() {
  for (at_ = 0; at_ <= text_.size(); ++at_) {
    for (std::size_t i = 0; i < sets_[at_].items.size() && !gave_up(); ++i) process(sets_[at_].items[i]);
  }
}

void Matcher::add(std::size_t position, Item item) {
  ++steps_;
  Set& set = sets_[position];
  if (set.seen.insert(item).second) set.items.push_back(item);
}

void Matcher::process(Item item) {
  if (item.state == kDone) return complete(item);
  const Node& node = ir_.node(item.node);
  switch (node.op) {
    case Op::never: return;
    case Op::literal:
      if (text_.substr(at_).starts_with(ir_.bytes(node))) add(at_ + node.size, {item.node, kDone, item.origin});
      return;
    case Op::chars: return read_char(item);
    case Op::sequence:
      if (item.state == node.size) return add(at_, {item.node, kDone, item.origin});
      return wait(item, ir_.children(node)[item.state]);
    case Op::choice:
      for (const NodeId child : ir_.children(node)) wait(item, child);
      return;
    case Op::repeat: return repeat(item);
    case Op::rule: return wait(item, ir_.rules()[node.min].body);
    case Op::text: return read_text(item);
  }
}

void Matcher::read_char(Item item) {
  if (at_ == text_.size()) return;
  const utf8::Decoded c = utf8::decode(text_.data() + at_, text_.data() + text_.size());
  if (contains(ir_.ranges(ir_.node(item.node)), c.code_point)) add(at_ + c.size, {item.node, kDone, item.origin});
}

void Matcher::repeat(Item item) {
  const Node& node = ir_.node(item.node);
  if (item.state >= node.min) add(at_, {item.node, kDone, item.origin});
  if (node.max == kUnbounded || item.state < node.max) wait(item, ir_.children(node)[0]);
}

void Matcher::read_text(Item item) {
  const Node& node = ir_.node(item.node);
  if ((item.state & kAfterStop) != 0) return wait(item, ir_.stops(node)[item.state & ~kAfterStop].target);
  if (node.min != 0) add(at_, {item.node, kDone, item.origin});
  if (at_ == text_.size()) return;
  const utf8::Decoded c = utf8::decode(text_.data() + at_, text_.data() + text_.size());
  const StopAutomaton::Step step = automaton(item.node).step(item.state, c.code_point);
  if (step.stop == kNone) return add(at_ + c.size, {item.node, step.state, item.origin});
  if (ir_.stops(node)[step.stop].target != kNone) add(at_ + c.size, {item.node, kAfterStop | step.stop, item.origin});
}

/// Who waits is written down before the child is begun. A child that was already found to be empty here is not
/// announced again, so whoever comes to wait for it later goes on at once (Aycock and Horspool's fix of Earley's
/// algorithm).
void Matcher::wait(Item item, NodeId child) {
  Set& set = sets_[at_];
  set.waiting[child].push_back(item);
  add(at_, {child, 0, static_cast<std::uint32_t>(at_)});
  if (set.empty.contains(child)) advance(item, true);
}

void Matcher::complete(Item item) {
  if (item.node == root_ && item.origin == 0 && at_ == text_.size()) accepted_ = true;
  const bool nothing = item.origin == at_;
  if (nothing) sets_[at_].empty.insert(item.node);
  const auto found = sets_[item.origin].waiting.find(item.node);
  if (found == sets_[item.origin].waiting.end()) return;
  const std::vector<Item> waiting = found->second;
  for (const Item& waiter : waiting) {
    if (gave_up()) return;
    advance(waiter, nothing);
  }
}

void Matcher::advance(Item item, bool nothing) {
  const Node& node = ir_.node(item.node);
  switch (node.op) {
    case Op::sequence: ++item.state; break;
    // More rounds than `min` are alike where there is no most, so the count stops there: else a text of n rounds would
    // make n states. A round that reads nothing counts for all that are still missing, or it would go round for ever.
    case Op::repeat:
      if (nothing && item.state >= node.min) return;
      item.state = nothing ? node.min : node.max == kUnbounded ? std::min(item.state + 1, node.min) : item.state + 1;
      break;
    default: item.state = kDone; break;
  }
  add(at_, item);
}

const StopAutomaton& Matcher::automaton(NodeId node) {
  const auto found = automata_.find(node);
  if (found != automata_.end()) return found->second;
  return automata_.emplace(node, StopAutomaton(ir_.stops(ir_.node(node)))).first->second;
}

}  // namespace parlance::grammar
