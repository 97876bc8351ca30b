// Turns as the inspector's page gets them. docs/serve-inspector.md describes the members.
#pragma once
#include <string>

#include "serve/inspect/inspector.h"

namespace parlance::serve {

/// A line of a list of turns: figures, the beginning of the reply, why the prefix broke.
std::string turn_summary(const InspectedTurn& turn, std::size_t number);
/// Everything: renders the prompt again, and encodes it again where a text may have been guarded.
std::string turn_json(const InspectedTurn& turn, std::size_t number);

}  // namespace parlance::serve
