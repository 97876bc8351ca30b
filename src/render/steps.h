// What a render took of the bound of steps.
#pragma once
#include <cstdint>

#include "parlance/template.h"

namespace parlance {

/// Of the last render with this memory, whatever came of it; 0 before one.
std::uint64_t steps_of_last(Workspace& workspace);

}  // namespace parlance
