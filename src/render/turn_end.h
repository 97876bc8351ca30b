// Where a turn ends that the template writes another's text into: results behind the calls, say. The prompt that ends
// with the turn's message shows it. Begin reading at end_as_alone.
#pragma once
#include <cstdint>

#include "parlance/render.h"

namespace parlance {

/// Where the turn of this message ends, by what the prompt `alone` has that ends with the message. The turn is given
/// from where its words begin up to the first text of another. Its end if nothing shows where it is over.
std::uint64_t end_as_alone(const Rendering& prompt, TextRange turn, const Rendering& alone, std::int32_t message);

}  // namespace parlance
