// Borders: the FIRST and FOLLOW sets of nodes: what a node may begin with, and what may come after a text of it that
// could end there. Begin reading at Borders::Facts.
//
// llguidance's lexer takes the longest match and cannot backtrack. A terminal of Lark that could go on into the text
// behind it would swallow that text, so the printer has to know where two pieces may run into each other.
#pragma once
#include <span>
#include <unordered_map>
#include <vector>

#include "grammar/ir.h"

namespace parlance::grammar {

class Borders {
 public:
  struct Facts {
    bool may_be_empty = false;
    std::vector<Range> first{};  ///< what a text of the node may begin with
    std::vector<Range> more{};   ///< what may follow a text of the node inside a longer one of it, or more than that
    std::vector<Range> all{};    ///< everything that occurs
    bool operator==(const Facts&) const = default;
  };
  explicit Borders(const Ir& ir) : ir_(ir) {}
  const Facts& of(NodeId id);
  /// Of some nodes behind each other: the facts of the first, of the first two, and so on.
  std::vector<Facts> of_beginnings(std::span<const NodeId> nodes);

 private:
  Facts make(NodeId id);
  void settle(std::span<const NodeId> made);
  Facts of_sequence(std::span<const NodeId> nodes);
  static Facts join(const Facts& a, const Facts& b);
  static Facts either(const Facts& a, const Facts& b);
  Facts repeated(const Node& node);

  const Ir& ir_;
  std::unordered_map<NodeId, Facts> known_;
};

/// Sorted ranges of both.
std::vector<Range> merged(std::vector<Range> a, const std::vector<Range>& b);
/// Whether sorted ranges have a code point in common.
bool overlap(std::span<const Range> a, std::span<const Range> b);

}  // namespace parlance::grammar
