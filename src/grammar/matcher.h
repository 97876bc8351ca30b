// Whether a text is in a grammar: Earley's algorithm over the nodes themselves. Begin reading at Matcher::run.
//
// The grammars are ambiguous and recursive, since schemas are. Earley's algorithm reads any context-free grammar in
// bounded time without rewriting it, so what tests accept is the grammar that is printed.
#pragma once
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grammar/ir.h"
#include "grammar/stop_automaton.h"

namespace parlance::grammar {

class Matcher {
 public:
  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);
  /// `most_steps`: after so many it gives up, since a pattern and a text of strangers may ask for millions.
  Matcher(const Ir& ir, NodeId root, std::size_t most_steps = kNoLimit)
      : ir_(ir), root_(root), most_steps_(most_steps) {}
  /// Whether the text is one of the grammar's. False where it gave up.
  bool accepts(std::string_view text);
  /// Items that were looked at, about a tenth of a microsecond each.
  std::size_t steps() const { return steps_; }
  bool gave_up() const { return steps_ >= most_steps_; }

 private:
  /// `state` depends on the node: of a sequence, the children read; of a repeat, the rounds; of a text, the automaton's
  /// state. kDone: all of it was read, from `origin` to here.
  struct Item {
    NodeId node;
    std::uint32_t state;
    std::uint32_t origin;
    bool operator==(const Item&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Item& item) const {
      return (std::uint64_t{item.node} << 32 | item.origin) * 0x9E3779B97F4A7C15u ^
             std::uint64_t{item.state} * 0xC2B2AE3D27D4EB4Fu;
    }
  };
  static constexpr std::uint32_t kDone = 0xFFFFFFFF;
  static constexpr std::uint32_t kAfterStop = 0x80000000;  ///< of a text node: waits for the target of a stop

  struct Set {
    std::vector<Item> items;
    std::unordered_set<Item, Hash> seen;
    std::unordered_map<NodeId, std::vector<Item>> waiting;
    std::unordered_set<NodeId> empty;  ///< nodes that end where they begin
  };

  void run();
  void add(std::size_t position, Item item);
  void process(Item item);
  void read_char(Item item);
  void read_text(Item item);
  void repeat(Item item);
  void wait(Item item, NodeId child);
  void complete(Item item);
  void advance(Item item, bool nothing);
  const StopAutomaton& automaton(NodeId node);

  const Ir& ir_;
  NodeId root_;
  std::size_t most_steps_;
  std::size_t steps_ = 0;
  std::string_view text_;
  std::size_t at_ = 0;
  bool accepted_ = false;
  std::vector<Set> sets_;
  std::unordered_map<NodeId, StopAutomaton> automata_;
};

}  // namespace parlance::grammar
