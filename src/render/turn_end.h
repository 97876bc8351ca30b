// Where a turn ends that the template writes another's text into: results behind the calls, say. The prompt that ends
// with the turn's message shows it. Begin reading at end_as_alone.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parlance/render.h"

namespace parlance {

/// Where the turn of this message ends, by what the prompt `alone` has that ends with the message. The turn is given
/// from where its words begin up to the first text of another. Its end if nothing shows where it is over.
std::uint64_t end_as_alone(const Rendering& prompt, TextRange turn, const Rendering& alone, std::int32_t message);

/// What a template writes between the end of a turn and the first text of another, as the header of a result: by that
/// the end is told of other turns.
struct Gap {
  std::vector<std::string> pieces;  ///< between each two of them stands some text of the turn's message: a name, say

  /// What stands in `range`.
  static Gap of(const Rendering& prompt, TextRange range, std::int32_t message);
  /// Where it begins in the turn of this message, if it stands at the end of that; the turn is given as above.
  std::optional<std::uint64_t> begin_in(const Rendering& prompt, TextRange turn, std::int32_t message) const;
};

}  // namespace parlance
