// How calls stand in an assistant's turn: the parts of each, and what stands round and between them.
//
//     <tools>⏎<call>{"name": "zq_first", …}</call>⏎<call>{"name": "zq_second", …}</call>⏎</tools>
//
// One call alone cannot tell whether <tools> belongs to it or to the section of all calls. So two calls are rendered:
// what comes from the same byte of the template in both belongs to each, the rest is the section's. Begin reading at
// find_calls.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "probe/turn.h"

namespace parlance::probe {

struct FoundCalls {
  CallForm form;
  std::string ending;     ///< behind the last call: the end of the turn
  std::size_t calls = 0;  ///< how many of two showed
  bool ids_shown = false;
  std::string problem;  ///< why the form may not hold
  /// texts stand in keywords without quotes: no call can be read back, nor does a model write so
  bool bare = false;
};

/// Finds the form of the calls in `two`, a turn with two plain calls; or in `one`, where two do not render.
std::optional<FoundCalls> find_calls(const TurnFacts& turn, const Shot& one, const Shot& two);

/// Whether arguments stand in the order of their names, and not in the order in which they were handed over.
bool sorts_arguments(Prober& prober, const TurnFacts& turn, Next next);

/// The assistant's turn from its opener on, up to what answers its calls.
Stretch turn_of(const TurnFacts& turn, const Shot& shot);
/// The same behind the opener: what the turn says.
Stretch body_of(const TurnFacts& turn, const Shot& shot);

}  // namespace parlance::probe
