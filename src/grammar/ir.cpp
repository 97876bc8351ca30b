// Making nodes: each kind in its simplest form, and equal ones once. Begin reading at Ir::add.
#include "grammar/ir.h"

#include <algorithm>
#include <iterator>

#include "base/ascii.h"
#include "base/utf8.h"

namespace parlance::grammar {
namespace {

constexpr std::size_t kMostParted = 256;  ///< alternatives: each is laid beside each

template <typename T>
void append_raw(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// How many bytes both begin with, in whole code points.
/// A code point is never cut: both halves would be printed, and half a character is no text of any grammar.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  std::size_t size = 0;
  while (size < std::min(a.size(), b.size()) && a[size] == b[size]) ++size;
  return utf8::whole_prefix(a, size).size();
}

}  // namespace

// ---- ranges

/// Sorted, joined, and without surrogates: no grammar's text has any, and an engine refuses a class that names them.
std::vector<Range> normalized(std::vector<Range> ranges) {
  std::vector<Range> legal;
  for (const Range& range : ranges) {
    const char32_t last = std::min<char32_t>(range.last, 0x10FFFF);
    if (range.first < 0xD800) legal.push_back({range.first, std::min<char32_t>(last, 0xD7FF)});
    if (last > 0xDFFF) legal.push_back({std::max<char32_t>(range.first, 0xE000), last});
  }
  std::sort(legal.begin(), legal.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
  std::vector<Range> out;
  for (const Range& range : legal) {
    if (range.first > range.last) continue;
    if (!out.empty() && range.first <= out.back().last + 1) {
      out.back().last = std::max(out.back().last, range.last);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

std::vector<Range> complement(const std::vector<Range>& ranges) {
  std::vector<Range> out;
  char32_t from = 0;
  for (const Range& range : ranges) {
    if (range.first > from) out.push_back({from, range.first - 1});
    from = range.last + 1;
  }
  if (from <= 0x10FFFF) out.push_back({from, 0x10FFFF});
  return normalized(std::move(out));
}

std::vector<Range> intersection(const std::vector<Range>& a, const std::vector<Range>& b) {
  std::vector<Range> out;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Range both{std::max(a[i].first, b[j].first), std::min(a[i].last, b[j].last)};
    if (both.first <= both.last) out.push_back(both);
    a[i].last < b[j].last ? ++i : ++j;
  }
  return out;
}

bool contains(std::span<const Range> ranges, char32_t c) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), c, [](char32_t x, const Range& r) { return x < r.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

/// A name that all three languages take: small letters, digits and single hyphens, and a letter first.
std::string rule_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, 48)) {
    const bool plain = ascii::is_alnum(c);
    if (plain) {
      name += ascii::lower(c);
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  const bool starts_well = !name.empty() && name.front() >= 'a' && name.front() <= 'z';
  return starts_well ? name : "x" + (name.empty() ? name : "-" + name);
}

// ---- nodes

/// Nodes 0 and 1 are never and empty, so that both are known by their numbers.
Ir::Ir() {
  nodes_.push_back({Op::never});
  nodes_.push_back({Op::sequence});
  known_.emplace(std::string(1, static_cast<char>(Op::sequence)), 1);
}

/// Equal nodes are one node. Schemas repeat themselves, and what is one node is printed once, as a rule; and whether
/// two parts of a grammar are the same is a comparison of numbers. The key has the kind and all that the node is made
/// of.
NodeId Ir::add(Op op, std::string key, Node node) {
  const auto [at, is_new] = known_.try_emplace(std::move(key), static_cast<NodeId>(nodes_.size()));
  if (!is_new) return at->second;
  node.op = op;
  nodes_.push_back(node);
  return at->second;
}

NodeId Ir::literal(std::string_view bytes) {
  if (bytes.empty()) return empty();
  std::string key(1, static_cast<char>(Op::literal));
  key += bytes;
  const std::size_t before = nodes_.size();
  const NodeId id = add(Op::literal, std::move(key), {});
  if (id < before) return id;
  nodes_[id].begin = static_cast<std::uint32_t>(bytes_.size());
  nodes_[id].size = static_cast<std::uint32_t>(bytes.size());
  bytes_ += bytes;
  return id;
}

NodeId Ir::chars(std::vector<Range> given) {
  const std::vector<Range> ranges = normalized(std::move(given));
  if (ranges.empty()) return never();
  if (ranges.size() == 1 && ranges[0].first == ranges[0].last) {
    std::string one;
    utf8::append(one, ranges[0].first);
    return literal(one);
  }
  std::string key(1, static_cast<char>(Op::chars));
  for (const Range& range : ranges) append_raw(key, range);
  const std::size_t before = nodes_.size();
  const NodeId id = add(Op::chars, std::move(key), {});
  if (id < before) return id;
  nodes_[id].begin = static_cast<std::uint32_t>(ranges_.size());
  nodes_[id].size = static_cast<std::uint32_t>(ranges.size());
  ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
  return id;
}

NodeId Ir::add_list(Op op, const std::vector<NodeId>& children, std::uint32_t min, std::uint32_t max) {
  std::string key(1, static_cast<char>(op));
  if (op == Op::repeat) append_raw(key, min), append_raw(key, max);
  for (const NodeId child : children) append_raw(key, child);
  const std::size_t before = nodes_.size();
  const NodeId id = add(op, std::move(key), {});
  if (id < before) return id;
  nodes_[id] = {op, static_cast<std::uint32_t>(children_.size()), static_cast<std::uint32_t>(children.size()), min,
                max};
  children_.insert(children_.end(), children.begin(), children.end());
  return id;
}

/// Sequences inside are taken apart, and literals beside each other joined.
NodeId Ir::sequence(std::span<const NodeId> given) {
  std::vector<NodeId> flat;
  std::string run;
  const auto end_run = [&] {
    if (!run.empty()) flat.push_back(literal(run));
    run.clear();
  };
  const auto take = [&](NodeId id) {
    const Node n = nodes_[id];
    if (n.op == Op::literal) {
      run += bytes(n);
    } else if (id != empty()) {
      end_run();
      flat.push_back(id);
    }
  };
  for (const NodeId id : given) {
    if (id == never()) return never();
    const Node n = nodes_[id];
    if (n.op != Op::sequence) {
      take(id);
      continue;
    }
    for (std::uint32_t i = 0; i < n.size; ++i) take(children_[n.begin + i]);
  }
  end_run();
  return flat.size() == 1 ? flat[0] : add_list(Op::sequence, flat);
}

/// Choices inside are taken apart, and an alternative counts once.
NodeId Ir::choice(std::span<const NodeId> given) {
  std::vector<NodeId> flat;
  std::unordered_set<NodeId> seen{never()};
  const auto take = [&](NodeId id) {
    if (seen.insert(id).second) flat.push_back(id);
  };
  for (const NodeId id : given) {
    const Node n = nodes_[id];
    if (n.op != Op::choice) {
      take(id);
      continue;
    }
    for (std::uint32_t i = 0; i < n.size; ++i) take(children_[n.begin + i]);
  }
  if (flat.empty()) return never();
  return flat.size() == 1 ? flat[0] : add_list(Op::choice, flat);
}

/// The choice with what all alternatives begin with taken out. Engines try alternatives side by side, token by token: a
/// common beginning that is written once is followed once.
NodeId Ir::factored(std::span<const NodeId> given) {
  std::vector<std::vector<NodeId>> ways;  // what is left of each, in order
  for (const NodeId id : given) {
    if (id == never()) continue;
    const Node n = nodes_[id];
    const std::span<const NodeId> inside = children(n);
    ways.push_back(n.op == Op::sequence ? std::vector<NodeId>(inside.begin(), inside.end()) : std::vector<NodeId>{id});
  }
  std::vector<NodeId> common;
  while (ways.size() > 1 && std::none_of(ways.begin(), ways.end(), [](const auto& way) { return way.empty(); })) {
    const NodeId shared = common_beginning(ways);
    if (shared == empty()) break;
    common.push_back(shared);
  }
  std::vector<NodeId> rests;
  for (const std::vector<NodeId>& way : ways) rests.push_back(sequence(way));
  common.push_back(choice(rests));
  return sequence(common);
}

/// Takes off what all begin with: the same node, or as much of their literals as is the same. empty(): nothing is.
NodeId Ir::common_beginning(std::vector<std::vector<NodeId>>& ways) {
  const NodeId first = ways[0].front();
  if (std::all_of(ways.begin(), ways.end(), [first](const auto& way) { return way.front() == first; })) {
    for (auto& way : ways) way.erase(way.begin());
    return first;
  }
  std::string prefix(nodes_[first].op == Op::literal ? bytes(nodes_[first]) : "");
  for (const auto& way : ways) {
    const Node n = nodes_[way.front()];
    prefix.resize(n.op == Op::literal ? common_prefix(prefix, bytes(n)) : 0);
  }
  if (prefix.empty()) return empty();
  for (auto& way : ways) {
    const std::string rest(bytes(nodes_[way.front()]).substr(prefix.size()));
    if (rest.empty())
      way.erase(way.begin());
    else
      way.front() = literal(rest);
  }
  return literal(prefix);
}

/// The literal that a node begins with, "" where it begins with none, and what follows.
Ir::Headed Ir::headed(NodeId id) {
  const Node n = nodes_[id];
  const NodeId first = n.op == Op::sequence && n.size > 0 ? children_[n.begin] : id;
  if (nodes_[first].op != Op::literal) return {"", id};
  std::vector<NodeId> rest;
  for (std::uint32_t i = 1; n.op == Op::sequence && i < n.size; ++i) rest.push_back(children_[n.begin + i]);
  return {std::string(bytes(nodes_[first])), sequence(rest)};
}

/// The choice with alternatives put together where the text of one begins with that of another, so that an engine which
/// looks ahead by one literal can tell them apart. The order of the first of each group is kept.
NodeId Ir::parted(std::span<const NodeId> given) {
  std::vector<Headed> ways;
  for (const NodeId id : given) {
    const std::vector<NodeId> inner =
        nodes_[id].op == Op::choice ? std::vector<NodeId>(children(nodes_[id]).begin(), children(nodes_[id]).end())
                                    : std::vector<NodeId>{id};
    for (const NodeId way : inner) ways.push_back(headed(way));
  }
  if (ways.size() > kMostParted) return choice(given);
  std::vector<NodeId> parted_ways;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const auto shortest = std::min_element(ways.begin(), ways.end(), [&](const Headed& a, const Headed& b) {
      const auto rank = [&](const Headed& way) {
        return !way.begin.empty() && ways[i].begin.starts_with(way.begin) ? way.begin.size() : std::string::npos;
      };
      return rank(a) < rank(b);
    });
    const std::string begin = ways[i].begin.empty() ? "" : shortest->begin;
    std::vector<NodeId> behind;
    for (std::size_t j = 0; j < ways.size() && !begin.empty(); ++j) {
      if (!ways[j].begin.starts_with(begin)) continue;
      if (j < i) break;  // it stands with an earlier one
      behind.push_back(sequence({literal(ways[j].begin.substr(begin.size())), ways[j].rest}));
    }
    if (begin.empty())
      parted_ways.push_back(ways[i].rest);
    else if (behind.size() == 1)
      parted_ways.push_back(sequence({literal(begin), behind[0]}));
    else if (!behind.empty())
      parted_ways.push_back(sequence({literal(begin), parted(behind)}));
  }
  return choice(parted_ways);
}

/// Nothing repeated is nothing once: an engine would not end. What cannot be written may be repeated no times.
NodeId Ir::repeat(NodeId child, std::uint32_t min, std::uint32_t max) {
  if (min > max) return never();
  if (child == never()) return min == 0 ? empty() : never();
  if (child == empty() || max == 0) return empty();
  if (min == 1 && max == 1) return child;
  return add_list(Op::repeat, {child}, min, max);
}

/// A repeat of exactly once, which repeat() never makes, marks a control token.
NodeId Ir::token(NodeId child) {
  if (child == never() || child == empty() || is_token(nodes_[child])) return child;
  return add_list(Op::repeat, {child}, 1, 1);
}

NodeId Ir::inside_token(NodeId id) const {
  while (is_token(nodes_[id])) id = children_[nodes_[id].begin];
  return id;
}

/// What may not occur, and stops that go on begin with: it goes on with what is left of them. Readers take the longest
/// marker, and what is none of these is a fault.
void Ir::join_prefixes(std::vector<Stop>& stops) {
  for (std::size_t i = 0; i < stops.size(); ++i) {
    if (stops[i].target != kNone || stops[i].literal.empty()) continue;
    const std::string begin = stops[i].literal;
    std::vector<NodeId> ways;
    for (Stop& stop : stops) {
      if (stop.target == kNone || !stop.literal.starts_with(begin)) continue;
      ways.push_back(sequence({literal(stop.literal.substr(begin.size())), stop.target}));
      stop.literal.clear();
    }
    if (!ways.empty()) stops[i].target = choice(ways);
  }
  std::erase_if(stops, [](const Stop& stop) { return stop.literal.empty(); });
}

/// What may not occur and stands inside of a stop that goes on, neither at its beginning nor at its end, would hide it,
/// and is left out.
NodeId Ir::text(std::vector<Stop> given, bool may_end) {
  std::vector<Stop> stops;
  join_prefixes(given);
  const auto hides = [&](const Stop& stop) {
    return std::any_of(given.begin(), given.end(), [&](const Stop& other) {
      const std::size_t at = other.target == kNone ? std::string::npos : other.literal.find(stop.literal);
      return at != std::string::npos && at + stop.literal.size() != other.literal.size();
    });
  };
  for (const Stop& stop : given) {
    if (stop.literal.empty() || (stop.target == kNone && hides(stop))) continue;
    if (std::find(stops.begin(), stops.end(), stop) == stops.end()) stops.push_back(stop);
  }
  std::string key(1, static_cast<char>(Op::text));
  key += may_end ? '1' : '0';
  for (const Stop& stop : stops) {
    append_raw(key, stop.literal.size());
    key += stop.literal;
    append_raw(key, stop.target);
  }
  const std::size_t before = nodes_.size();
  const NodeId id = add(Op::text, std::move(key), {});
  if (id < before) return id;
  nodes_[id].begin = static_cast<std::uint32_t>(stops_.size());
  nodes_[id].size = static_cast<std::uint32_t>(stops.size());
  nodes_[id].min = may_end ? 1 : 0;
  stops_.insert(stops_.end(), stops.begin(), stops.end());
  return id;
}

NodeId Ir::rule(RuleId rule) {
  std::string key(1, static_cast<char>(Op::rule));
  append_raw(key, rule);
  Node node;
  node.min = rule;
  return add(Op::rule, std::move(key), node);
}

/// Names that two rules want get numbers, by how often they were wanted: trying each number from 2 on would cost the
/// square of the rules.
RuleId Ir::add_rule(std::string_view wanted) {
  const std::string first = rule_name(wanted);
  std::string name = first;
  std::uint32_t& uses = rule_names_[first];
  while (!taken_.insert(name).second) name = first + "-" + std::to_string(++uses + 1);
  rules_.push_back({std::move(name), kNone});
  return static_cast<RuleId>(rules_.size() - 1);
}

std::string_view Ir::name_of(NodeId node) const {
  const auto found = names_.find(node);
  return found == names_.end() ? std::string_view() : found->second;
}

}  // namespace parlance::grammar
