// What printers share: which nodes are worth a rule of their own, names that are used once, texts and classes as
// written.
//
// A node that many rules use would be printed as often, and schemas of a request repeat the same strings and numbers a
// hundred times. Engines compile what they are given, so a shared rule saves their time as well.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grammar/ir.h"

namespace parlance::grammar {

class SharedNodes {
 public:
  SharedNodes(const Ir& ir, std::span<const NodeId> roots);
  /// Whether the node occurs more than once and is long enough to be said once.
  bool is_shared(NodeId node) const;
  /// Whether it is built of literals, characters, sequences, choices and repeats only, and small.
  bool is_regular(NodeId node) const { return sizes_.contains(node) && sizes_.at(node).regular; }

 private:
  struct Facts {
    std::uint32_t uses = 0;
    std::uint32_t size = 0;  ///< nodes below, each counted where it occurs, up to a bound
    bool regular = true;
  };
  void measure(const Ir& ir, NodeId node);

  std::unordered_map<NodeId, Facts> sizes_;
};

class Names {
 public:
  /// The name, or the name with a number where it is taken.
  std::string take(std::string_view wanted);

 private:
  std::unordered_map<std::string, std::uint32_t> next_;
  std::unordered_set<std::string> taken_;
};

/// A text between quotes, as GBNF and Lark spell it: control characters by four digits, which ends them whatever
/// follows.
std::string quoted(std::string_view bytes);

/// "[^\"\\]", from ranges. `unicode` writes one code point past ASCII.
std::string class_of(std::span<const Range> ranges, std::string (*unicode)(char32_t));

}  // namespace parlance::grammar
