// StopAutomaton: the Aho-Corasick automaton of a text node, with all its edges worked out. It reads code points, and
// says when the first stop is complete. Begin reading at step().
//
// A grammar has no way to say "any text without these markers". Such a text is the language of a finite automaton,
// whose states become rules. White space inside a stop is optional, as in the reader's markers: any, or none; and so it
// is between two tags.
#pragma once
#include <map>
#include <vector>

#include "grammar/ir.h"

namespace parlance::grammar {

class StopAutomaton {
 public:
  using State = std::uint32_t;
  static constexpr State kStart = 0;
  /// Where a code point leads: to a state, or to the end of a stop (its number in the node).
  struct Step {
    State state = kStart;
    std::uint32_t stop = kNone;
    bool operator==(const Step&) const = default;
    bool operator<(const Step& other) const { return state != other.state ? state < other.state : stop < other.stop; }
  };
  using Edges = std::map<char32_t, Step>;

  explicit StopAutomaton(std::span<const Stop> stops);
  Step step(State state, char32_t c) const {
    const auto found = edges_[state].find(c);
    return found == edges_[state].end() ? Step{} : found->second;
  }
  /// Every edge that does not lead back to the start.
  const Edges& edges(State state) const { return edges_[state]; }
  std::size_t size() const { return edges_.size(); }

 private:
  /// A state under construction. `fail` is the state of the longest proper suffix that some stop begins with.
  struct Trie {
    std::map<char32_t, State> next;
    State fail = kStart;
    std::uint32_t stop = kNone;
    bool blank = false;  ///< white space leads back to the state
  };
  State grow(std::vector<Trie>& trie, State from, char32_t c);
  State grow_blank(std::vector<Trie>& trie, State from);
  void add(std::vector<Trie>& trie, const Stop& stop, std::uint32_t number, std::span<const Stop> stops);
  void close(std::vector<Trie>& trie, std::span<const Stop> stops);

  std::vector<Edges> edges_;
};

}  // namespace parlance::grammar
