// What a template can: roles, parts, tools. Begin reading at find_capabilities.
#pragma once
#include "probe/turn.h"

namespace parlance::probe {

void find_capabilities(Prober& prober, const TurnFacts& turn, DerivedFormat& derived);

/// Of these, how calls and what stands beside them must be handed over.
void find_call_capabilities(Prober& prober, TemplateCapabilities& can);

}  // namespace parlance::probe
