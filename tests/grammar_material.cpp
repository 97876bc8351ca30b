// The sampler. Begin reading at write().
#include "grammar_material.h"

#include <algorithm>
#include <functional>

#include "base/utf8.h"

namespace parlance::tests {

using namespace parlance::grammar;

namespace {

constexpr std::uint32_t kImpossible = 1000000;
constexpr int kDeep = 24;
constexpr std::size_t kLong = 1500;

/// What texts are made of, beside pieces of their own markers.
constexpr const char* kPieces[] = {"a",    "Hello",      " ",  "\n", "42",  "\"",    "\\", "'",    "{",    "}",
                                   "[",    "]",          "<",  ">",  "/",   "&",     "|",  "null", "true", "é",
                                   "日本", "\U0001F600", ": ", ", ", "```", "<tool", "</", "\t",   "&lt;", "\r\n"};

}  // namespace

GrammarSampler::GrammarSampler(const Ir& ir, NodeId root, std::uint64_t seed) : ir_(ir), root_(root), random_(seed) {
  find_costs();
}

/// By rounds, until nothing gets cheaper.
void GrammarSampler::find_costs() {
  std::vector<NodeId> all{root_};
  cost_[root_] = kImpossible;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ir_.for_each_child(all[i], [&](NodeId child) {
      if (cost_.emplace(child, kImpossible).second) all.push_back(child);
    });
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
      const Node& node = ir_.node(*at);
      std::uint32_t least = kImpossible, most = 0;
      ir_.for_each_child(*at, [&](NodeId child) {
        least = std::min(least, cost_[child]);
        most = std::max(most, cost_[child]);
      });
      std::uint32_t now = 0;
      if (node.op == Op::never) now = kImpossible;
      if (node.op == Op::sequence) now = most;
      if (node.op == Op::choice) now = least;
      if (node.op == Op::rule) now = most + 1;
      if (node.op == Op::repeat) now = node.min == 0 ? 0 : most;
      if (node.op == Op::text) now = node.min != 0 ? 0 : least;
      now = std::min(now, kImpossible);
      changed = changed || now < cost_[*at];
      cost_[*at] = std::min(cost_[*at], now);
    }
  }
}

std::string GrammarSampler::sample() {
  out_.clear();
  write(root_, 0);
  return out_;
}

void GrammarSampler::write(NodeId id, int depth) {
  const Node& node = ir_.node(id);
  if (plain_spaces_ && ir_.name_of(id) == "space") {
    if (out_.ends_with(',') || out_.ends_with(':')) out_ += ' ';
    return;
  }
  switch (node.op) {
    case Op::never: std::abort();
    case Op::literal: out_ += ir_.bytes(node); return;
    case Op::chars: return write_char(node);
    case Op::sequence:
      for (const NodeId child : ir_.children(node)) write(child, depth);
      return;
    case Op::choice: return write_choice(node, depth);
    case Op::repeat: return write_repeat(node, depth);
    case Op::rule: return write(ir_.rules()[node.min].body, depth + 1);
    case Op::text: return write_text(id, depth);
  }
}

void GrammarSampler::write_choice(const Node& node, int depth) {
  std::vector<NodeId> possible;
  std::uint32_t least = kImpossible;
  for (const NodeId child : ir_.children(node)) {
    if (cost(child) < kImpossible) possible.push_back(child);
    least = std::min(least, cost(child));
  }
  if (depth > kDeep || out_.size() > kLong) std::erase_if(possible, [&](NodeId child) { return cost(child) > least; });
  write(possible[below(static_cast<std::uint32_t>(possible.size()))], depth);
}

/// White space that may be there: templates write all of it.
bool GrammarSampler::is_framing(NodeId id) const {
  const Node& node = ir_.node(id);
  if (node.op == Op::literal) return ir_.bytes(node).find_first_not_of(" \t\r\n") == std::string_view::npos;
  const auto children = ir_.children(node);
  const bool list = node.op == Op::sequence || (node.op == Op::repeat && node.min == 0 && node.max == 1);
  return list && std::all_of(children.begin(), children.end(), [this](NodeId child) { return is_framing(child); });
}

void GrammarSampler::write_repeat(const Node& node, int depth) {
  const NodeId child = ir_.children(node)[0];
  if (plain_spaces_ && node.min == 0 && node.max == 1 && is_framing(child)) return write(child, depth);
  const bool enough = depth > kDeep || out_.size() > kLong || cost(child) >= kImpossible;
  std::uint32_t count = node.min;
  const std::uint32_t room = node.max == kUnbounded ? 100 : node.max - node.min;
  if (!enough && room > 0) {
    count += below(3) == 0 ? 0 : below(std::min(room, below(10) == 0 ? 70u : 4u) + 1);
    if (node.max != kUnbounded && below(20) == 0 && room < 300) count = node.max;
  }
  for (std::uint32_t i = 0; i < count; ++i) write(child, depth);
}

void GrammarSampler::write_char(const Node& node) {
  const auto ranges = ir_.ranges(node);
  const Range range = ranges[below(static_cast<std::uint32_t>(ranges.size()))];
  const bool narrow = below(4) != 0;  // mostly ASCII, where there is
  const char32_t last = narrow && range.first < 0x7F ? std::min<char32_t>(range.last, 0x7E) : range.last;
  utf8::append(out_, range.first + static_cast<char32_t>(random_() % (last - range.first + 1)));
}

/// Pieces that complete no stop; then, where there is one, a stop with what follows it.
void GrammarSampler::write_text(NodeId id, int depth) {
  const Node node = ir_.node(id);
  const StopAutomaton& automaton = automata_.try_emplace(id, ir_.stops(node)).first->second;
  StopAutomaton::State state = 0;
  const auto try_piece = [&](std::string_view piece) {
    StopAutomaton::State at = state;
    for (const char* p = piece.data(); p != piece.data() + piece.size();) {
      const utf8::Decoded c = utf8::decode(p, piece.data() + piece.size());
      p += c.size;
      const StopAutomaton::Step step = automaton.step(at, c.code_point);
      if (step.stop != kNone) return p == piece.data() + piece.size() ? step.stop : kNone - 1;
      at = step.state;
    }
    state = at;
    out_ += piece;
    return kNone;
  };
  const std::uint32_t pieces = depth > kDeep || out_.size() > kLong ? 0 : below(below(4) == 0 ? 30 : 5);
  for (std::uint32_t i = 0; i < pieces; ++i) {
    if (node.size > 0 && below(3) == 0) {
      const std::string& marker = ir_.stops(node)[below(node.size)].literal;
      const std::size_t from = below(4) == 0 ? below(static_cast<std::uint32_t>(marker.size())) : 0;
      std::string piece = marker.substr(from, below(static_cast<std::uint32_t>(marker.size())));
      if (utf8::is_valid(piece, false)) try_piece(piece);
    } else {
      try_piece(kPieces[below(std::size(kPieces))]);
    }
  }
  std::vector<std::uint32_t> targets;
  for (std::uint32_t i = 0; i < node.size; ++i) {
    const NodeId target = ir_.stops(node)[i].target;
    if (target != kNone && cost(target) < kImpossible) targets.push_back(i);
  }
  if (targets.empty() || (node.min != 0 && (below(3) == 0 || depth > kDeep))) return;
  const std::uint32_t chosen = targets[below(static_cast<std::uint32_t>(targets.size()))];
  const Stop stop = ir_.stops(node)[chosen];
  while (true) {
    const std::size_t before = out_.size();
    const std::uint32_t met = try_piece(stop.literal);
    if (met == chosen) break;
    out_.resize(before);
    state = 0;
    out_ += ".";  // what stands before would make another marker of it
  }
  out_ += stop.literal;
  write(stop.target, depth);
}

}  // namespace parlance::tests
