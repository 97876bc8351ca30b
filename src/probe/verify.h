// Reading the probes' own turns with the format that was made of them. Begin reading at write_turns and read_turns.
//
// The format was concluded from plain texts. Whether it holds shows in awkward ones: quotes, newlines, texts that look
// like numbers, lists, two and three calls. A template that loses one of them is told by the name of that turn.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "probe/turn.h"

namespace parlance::probe {

/// A turn of the assistant that the template wrote of a message that is known.
struct WrittenTurn {
  std::string name;
  Scene scene;
  std::string_view text = {};  ///< a value as it is: where it stands so between quotes, nobody can read it back
  std::string body;
};

/// Turns of each kind that the derived format says to have.
std::vector<WrittenTurn> write_turns(Prober& prober, const TurnFacts& turn, const DerivedFormat& derived, Next next);

/// Adds what is not read back to `derived.missing`, and what the template itself loses to its notes.
void read_turns(const std::vector<WrittenTurn>& turns, const TurnFacts& turn, DerivedFormat& derived);

}  // namespace parlance::probe
