// Nodes made of nodes: what is left behind a prefix, the same as the inside of a JSON string; and the ways to write a
// marker. Begin reading at after_prefix.
#include <algorithm>
#include <unordered_map>

#include "grammar/reply_grammar.h"
#include "json/writer.h"
#include "reply/scan/text_codec.h"

namespace parlance::grammar {
namespace {

constexpr int kDerivativeDepth = 64;
constexpr std::size_t kMostVariants = 16;

/// What each way through a node is, once `prefix` stands. Ways that end inside of the prefix are left out: a marker
/// that a prompt begins goes on.
///
/// Brzozowski's derivative by a text. The prefix is what a prompt ends with of a marker, so it is short, and it never
/// ends in the middle of a class or of free text: those have no derivative here.
struct Derivative {
  Ir& ir;

  NodeId of(NodeId id, std::string_view prefix, int depth) {
    if (prefix.empty()) return id;
    const Node node = ir.node(id);
    if (depth == kDerivativeDepth) return ir.never();
    switch (node.op) {
      case Op::literal:
        return ir.bytes(node).starts_with(prefix) ? ir.literal(std::string(ir.bytes(node).substr(prefix.size())))
                                                  : ir.never();
      case Op::sequence: return of_sequence(node, prefix, depth);
      case Op::choice: {
        std::vector<NodeId> ways;
        for (std::uint32_t i = 0; i < node.size; ++i) ways.push_back(of(ir.children(node)[i], prefix, depth + 1));
        return ir.choice(ways);
      }
      case Op::repeat: {
        const NodeId child = ir.children(node)[0];
        const std::uint32_t max = node.max == kUnbounded ? kUnbounded : node.max - 1;
        return ir.sequence({of(child, prefix, depth + 1), ir.repeat(child, node.min > 0 ? node.min - 1 : 0, max)});
      }
      case Op::rule: return of(ir.rules()[node.min].body, prefix, depth + 1);
      case Op::text: {
        std::vector<NodeId> ways;
        for (std::uint32_t i = 0; i < node.size; ++i) {
          const Stop stop = ir.stops(node)[i];
          if (stop.target == kNone || !stop.literal.starts_with(prefix)) continue;
          ways.push_back(ir.sequence({ir.literal(stop.literal.substr(prefix.size())), stop.target}));
        }
        return ir.choice(ways);
      }
      default: return ir.never();
    }
  }

  bool may_be_empty(NodeId id) {
    const Node node = ir.node(id);
    return id == ir.empty() || (node.op == Op::repeat && node.min == 0) || (node.op == Op::text && node.min != 0);
  }

  NodeId of_sequence(const Node& node, std::string_view prefix, int depth) {
    std::vector<NodeId> ways;
    for (std::uint32_t i = 0; i < node.size; ++i) {
      const NodeId child = ir.children(node)[i];
      std::vector<NodeId> rest{of(child, prefix, depth + 1)};
      for (std::uint32_t j = i + 1; j < node.size; ++j) rest.push_back(ir.children(node)[j]);
      ways.push_back(ir.sequence(rest));
      if (!may_be_empty(child)) break;
    }
    return ir.choice(ways);
  }
};

/// Copies nodes with their literals escaped, children first, from a stack.
///
/// A tool's argument may be a JSON string that holds JSON. The inner grammar is the same, with each quote and backslash
/// written as an escape; only literals and classes change. Rules may lead back to themselves, so a rule's copy is
/// promised before its body is made.
class Escaping {
 public:
  explicit Escaping(Ir& ir) : ir_(ir) {}
  NodeId run(NodeId root) {
    stack_.push_back(root);
    while (!stack_.empty()) {
      const NodeId id = stack_.back();
      if (done_.contains(id) || ready(id)) stack_.pop_back();
    }
    for (const auto& [old_rule, new_rule] : rules_) ir_.set_body(new_rule, done_.at(ir_.rules()[old_rule].body));
    return done_.at(root);
  }

 private:
  /// Whether the copy could be made; else what it needs is on the stack.
  bool ready(NodeId id) {
    const Node node = ir_.node(id);
    if (node.op == Op::rule) {
      const NodeId body = ir_.rules()[node.min].body;
      const std::string name = ir_.rules()[node.min].name + "-text";
      const auto [rule, is_new] = rules_.try_emplace(node.min, 0);
      if (is_new) rule->second = ir_.add_rule(name);
      done_[id] = ir_.rule(rule->second);
      stack_.pop_back();
      if (!done_.contains(body)) stack_.push_back(body);
      stack_.push_back(id);  // the caller takes it away
      return true;
    }
    bool all = true;
    ir_.for_each_child(id, [&](NodeId child) {
      if (!done_.contains(child)) stack_.push_back(child), all = false;
    });
    if (!all) return false;
    std::vector<NodeId> children;
    ir_.for_each_child(id, [&](NodeId child) { children.push_back(done_.at(child)); });
    done_[id] = node.op == Op::literal    ? ir_.literal(json_inside(ir_.bytes(node)))
                : node.op == Op::sequence ? ir_.sequence(children)
                : node.op == Op::choice   ? ir_.choice(children)
                : Ir::is_token(node)      ? ir_.token(children[0])
                : node.op == Op::repeat   ? ir_.repeat(children[0], node.min, node.max)
                : node.op == Op::chars    ? escaped_chars(node)
                                          : id;
    return true;
  }

  NodeId escaped_chars(const Node& node) {
    const std::vector<Range> given(ir_.ranges(node).begin(), ir_.ranges(node).end());
    const std::vector<Range> special{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
    std::vector<NodeId> ways{ir_.chars(intersection(given, complement(special)))};
    for (const Range& range : intersection(given, special)) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        const char byte = static_cast<char>(c);
        ways.push_back(ir_.literal(json_inside({&byte, 1})));
      }
    }
    return ir_.choice(ways);
  }

  Ir& ir_;
  std::vector<NodeId> stack_;
  std::unordered_map<NodeId, NodeId> done_;
  std::unordered_map<RuleId, RuleId> rules_;
};

}  // namespace

NodeId after_prefix(Ir& ir, NodeId node, std::string_view prefix) { return Derivative{ir}.of(node, prefix, 0); }

NodeId escaped(Ir& ir, NodeId node) { return Escaping(ir).run(node); }

/// Any suffix of the blanks: of " \n" the empty text, "\n" and " \n".
NodeId ending_of(Ir& ir, std::string_view blanks) {
  NodeId node = ir.empty();
  for (const char& c : blanks) node = ir.optional(ir.sequence({node, ir.literal({&c, 1})}));
  return node;
}

/// Any prefix of the blanks: of " \n" the empty text, " " and " \n".
NodeId beginning_of(Ir& ir, std::string_view blanks) {
  NodeId node = ir.empty();
  for (std::size_t i = blanks.size(); i-- > 0;)
    node = ir.optional(ir.sequence({ir.literal(blanks.substr(i, 1)), node}));
  return node;
}

/// Models write the white space inside of a marker in several ways: as it is shown, its last character alone, or none.
/// Each gap triples the ways, so beyond sixteen ways the rest is written as it is.
std::vector<std::string> soft_variants(std::string_view text) {
  const std::vector<std::string_view> words = reply::soft_words(text);
  std::vector<std::string> all{std::string(words.front())};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const char* const from = words[i - 1].data() + words[i - 1].size();
    const std::string_view written(from, static_cast<std::size_t>(words[i].data() - from));
    const bool vary = !written.empty() && all.size() * 3 <= kMostVariants;
    std::vector<std::string> longer;
    for (const std::string& head : all) {
      longer.push_back(head + std::string(written));
      if (vary && written.size() > 1) longer.push_back(head + written.back());
      if (vary) longer.push_back(head);
    }
    for (std::string& one : longer) one += words[i];
    all = std::move(longer);
  }
  return all;
}

}  // namespace parlance::grammar
