// What a template can: roles, parts, tools. Begin reading at find_capabilities.
#pragma once
#include "probe/turn.h"

namespace parlance::probe {

void find_capabilities(Prober& prober, const TurnFacts& turn, DerivedFormat& derived);

}  // namespace parlance::probe
