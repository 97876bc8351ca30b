// The model's own response_template, where it has one. Begin reading at take_hint.
#pragma once
#include "probe/held.h"

namespace parlance::probe {

/// Tries the response_template of the options on the template's own turns, and puts it in the place of what was derived if
/// it is verified or that is not. What the two say otherwise, and why it is not used, are notes.
void take_hint(Prober& prober, const Seen& seen, DerivedFormat& derived);

}  // namespace parlance::probe
