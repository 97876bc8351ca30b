// Random texts of a grammar, and formats and tools to make grammars of. Begin reading at GrammarSampler.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "grammar/ir.h"
#include "grammar/stop_automaton.h"

namespace parlance::tests {

/// Walks a grammar at random. Deep in it, and in long texts, it takes what ends soonest.
class GrammarSampler {
 public:
  GrammarSampler(const grammar::Ir& ir, grammar::NodeId root, std::uint64_t seed);
  std::string sample();
  /// White space as templates write it from now on: one blank behind ',' and ':'.
  void write_plain_spaces() { plain_spaces_ = true; }

 private:
  void write(grammar::NodeId id, int depth);
  bool is_framing(grammar::NodeId id) const;
  void write_choice(const grammar::Node& node, int depth);
  void write_repeat(const grammar::Node& node, int depth);
  void write_text(grammar::NodeId id, int depth);
  void write_char(const grammar::Node& node);
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  std::uint32_t cost(grammar::NodeId id) const { return cost_.at(id); }
  void find_costs();

  const grammar::Ir& ir_;
  grammar::NodeId root_;
  std::mt19937_64 random_;
  std::string out_;
  bool plain_spaces_ = false;
  std::unordered_map<grammar::NodeId, std::uint32_t> cost_;  ///< how deep the shallowest text of a node is
  std::unordered_map<grammar::NodeId, grammar::StopAutomaton> automata_;
};

}  // namespace parlance::tests
