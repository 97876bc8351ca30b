// Reading the probes' own turns with the format that was made of them. Begin reading at verify.
#pragma once
#include "probe/turn.h"

namespace parlance::probe {

/// Adds what is not read back to `derived.missing`, and what the template itself loses to its notes.
void verify(Prober& prober, const TurnFacts& turn, DerivedFormat& derived, Next next);

}  // namespace parlance::probe
