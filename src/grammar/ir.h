// The grammar between a reply format and the languages it is printed in: nodes in an arena, by number.
//
// Equal nodes are one node, so that what occurs often is stored, and printed, once. Every node describes a set of texts
// of code points. Recursion goes through rules only, and never without a byte before it. Begin reading at Op.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace parlance::grammar {

using NodeId = std::uint32_t;
using RuleId = std::uint32_t;
inline constexpr NodeId kNone = 0xFFFFFFFF;
inline constexpr std::uint32_t kUnbounded = 0xFFFFFFFF;

enum class Op : std::uint8_t {
  never,     ///< no text at all
  literal,   ///< these bytes
  chars,     ///< one code point out of ranges
  sequence,  ///< one child after the other; without children, the empty text
  choice,    ///< any of the children
  repeat,    ///< the child `min` to `max` times
  rule,      ///< what the rule says
  /// text up to the first stop in it, which goes on with the stop's target; or, with `may_end`, text without any
  text,
};

/// Code points from `first` to `last`.
struct Range {
  char32_t first = 0;
  char32_t last = 0;
  bool operator==(const Range&) const = default;
};
inline const std::vector<Range> kAnyChar{{0, 0x10FFFF}};

/// What ends a text: a literal, and the node behind it; kNone: it must not occur.
struct Stop {
  std::string literal{};
  NodeId target = kNone;
  bool operator==(const Stop&) const = default;
};

struct Node {
  Op op = Op::never;
  std::uint32_t begin = 0;  ///< of its bytes, ranges, children or stops in their pool
  std::uint32_t size = 0;
  std::uint32_t min = 0;  ///< repeat; rule: its number; text: 1 where it may end without a stop
  std::uint32_t max = 0;
};

/// What the texts of a node are: those of `any`, which is regular, in which none of `never` occurs.
struct Guard {
  NodeId any = kNone;
  std::vector<std::string> never{};
};

struct Rule {
  std::string name{};  ///< unique; letters, digits and '-'
  NodeId body = kNone;
};

class Ir {
 public:
  Ir();

  // ---- making nodes
  NodeId never() const { return 0; }
  NodeId empty() const { return 1; }
  NodeId literal(std::string_view bytes);
  /// The ranges may be in any order and overlap; surrogates are left out.
  NodeId chars(std::vector<Range> ranges);
  NodeId sequence(std::span<const NodeId> children);
  NodeId sequence(std::initializer_list<NodeId> children) {
    return sequence(std::span(children.begin(), children.size()));
  }
  NodeId choice(std::span<const NodeId> children);
  NodeId choice(std::initializer_list<NodeId> children) { return choice(std::span(children.begin(), children.size())); }
  /// A choice whose alternatives' common beginning stands before it once.
  NodeId factored(std::span<const NodeId> children);
  /// A choice in which no alternative's first literal begins another's: they part behind it. An engine's lexer takes
  /// the longest there is.
  NodeId parted(std::span<const NodeId> children);
  NodeId parted(std::initializer_list<NodeId> children) { return parted(std::span(children.begin(), children.size())); }
  NodeId repeat(NodeId child, std::uint32_t min, std::uint32_t max);
  NodeId optional(NodeId child) { return repeat(child, 0, 1); }
  /// The same texts as the child's, as one piece to engines that have a lexer: a string, a number, a word. No sequence
  /// takes it apart.
  NodeId token(NodeId child);
  NodeId text(std::vector<Stop> stops, bool may_end);
  NodeId rule(RuleId rule);
  RuleId add_rule(std::string_view name);
  void set_body(RuleId rule, NodeId body) { rules_[rule].body = body; }
  /// Says the same of a node as what it is made of, to languages that can say that something does not occur.
  void set_guard(NodeId node, Guard guard) { guards_.emplace(node, std::move(guard)); }
  /// Gives a node a name to be printed under where it is worth a rule of its own.
  void suggest(NodeId node, std::string_view name) { names_.emplace(node, name); }

  /// Takes out alternatives that no text can bring to an end, as where a schema allows nothing or leads back to itself
  /// for ever. Tells of each node whether it has a text; nothing may be made afterwards.
  std::vector<bool> prune();

  // ---- reading them
  const Node& node(NodeId id) const { return nodes_[id]; }
  std::string_view bytes(const Node& node) const { return std::string_view(bytes_).substr(node.begin, node.size); }
  std::span<const Range> ranges(const Node& node) const { return std::span(ranges_).subspan(node.begin, node.size); }
  /// None of a node that has none: what others hold begins elsewhere.
  std::span<const NodeId> children(const Node& node) const {
    const bool has_some = node.op == Op::sequence || node.op == Op::choice || node.op == Op::repeat;
    return has_some ? std::span(children_).subspan(node.begin, node.size) : std::span<const NodeId>();
  }
  std::span<const Stop> stops(const Node& node) const { return std::span(stops_).subspan(node.begin, node.size); }
  const std::vector<Rule>& rules() const { return rules_; }
  std::size_t size() const { return nodes_.size(); }
  std::string_view name_of(NodeId node) const;
  static bool is_token(const Node& node) { return node.op == Op::repeat && node.min == 1 && node.max == 1; }
  /// The node's guard, or null.
  const Guard* guard_of(NodeId node) const {
    const auto found = guards_.find(node);
    return found == guards_.end() ? nullptr : &found->second;
  }
  /// What the tokens are of, where the node is one.
  NodeId inside_token(NodeId id) const;
  /// Calls `visit(NodeId)` for each node right below, rules' bodies included.
  template <typename Visit>
  void for_each_child(NodeId id, Visit visit) const {
    const Node n = nodes_[id];
    if (n.op == Op::sequence || n.op == Op::choice || n.op == Op::repeat) {
      for (std::uint32_t i = 0; i < n.size; ++i) visit(children_[n.begin + i]);
    } else if (n.op == Op::rule) {
      visit(rules_[n.min].body);
    } else if (n.op == Op::text) {
      for (std::uint32_t i = 0; i < n.size; ++i) {
        if (stops_[n.begin + i].target != kNone) visit(stops_[n.begin + i].target);
      }
    }
  }

 private:
  /// A node as the literal that it begins with, and what follows: how parted() compares alternatives.
  struct Headed {
    std::string begin;
    NodeId rest;
  };
  Headed headed(NodeId id);
  NodeId common_beginning(std::vector<std::vector<NodeId>>& ways);
  void join_prefixes(std::vector<Stop>& stops);
  std::vector<bool> productive() const;
  NodeId add(Op op, std::string key, Node node);
  NodeId add_list(Op op, const std::vector<NodeId>& children, std::uint32_t min = 0, std::uint32_t max = 0);

  std::vector<Node> nodes_;
  std::string bytes_;
  std::vector<Range> ranges_;
  std::vector<NodeId> children_;
  std::vector<Stop> stops_;
  std::vector<Rule> rules_;
  // Nodes and their parts only grow until prune(): a NodeId stays valid, a reference into nodes_ does not. So whoever
  // makes nodes while it looks at one copies that one first.
  std::unordered_map<std::string, NodeId> known_;
  std::unordered_map<NodeId, std::string> names_;
  std::unordered_map<NodeId, Guard> guards_;
  std::unordered_map<std::string, std::uint32_t> rule_names_;  ///< how often a name was wanted again
  std::unordered_set<std::string> taken_;
};

/// Sorted ranges without overlaps and without surrogates.
std::vector<Range> normalized(std::vector<Range> ranges);
/// Every code point but surrogates that is in none of the (normalized) ranges.
std::vector<Range> complement(const std::vector<Range>& ranges);
std::vector<Range> intersection(const std::vector<Range>& a, const std::vector<Range>& b);
bool contains(std::span<const Range> ranges, char32_t c);
/// Letters, digits and '-' of a text, for a rule's name.
std::string rule_name(std::string_view text);

}  // namespace parlance::grammar
