// What a template can: roles, parts, tools. Begin reading at find_capabilities.
//
// A capability is never "supports X" by name: it says what became of a message in a prompt (it shows, it is dropped,
// the template raises), since that is all that a request can depend on.
#pragma once
#include "probe/turn.h"

namespace parlance::probe {

void find_capabilities(Prober& prober, const TurnFacts& turn, DerivedFormat& derived);

/// Of these, how calls and what stands beside them must be handed over.
void find_call_capabilities(Prober& prober, TemplateCapabilities& can);

}  // namespace parlance::probe
