// The model's own response_template, where it has one. Begin reading at take_hint.
//
// It is written by people, and may be right where experiments see nothing, or be out of date. So it is not believed
// either: it has to read the template's own turns, as a derived format has to.
#pragma once
#include "probe/held.h"

namespace parlance::probe {

/// Tries the response_template of the options on the template's own turns, and puts it in the place of what was derived
/// if it is verified or that is not. What the two say otherwise, and why it is not used, are notes.
void take_hint(Prober& prober, const Seen& seen, DerivedFormat& derived);

}  // namespace parlance::probe
