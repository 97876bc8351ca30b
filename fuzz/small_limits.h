// Limits under which a fuzz target looks at thousands of inputs a second, and every limit is met.
#pragma once
#include "parlance/limits.h"

namespace parlance::fuzz {

inline constexpr Limits kSmallLimits{
    .steps = 50'000, .output_bytes = std::uint64_t{1} << 18, .memory_bytes = std::uint64_t{1} << 23, .depth = 60};

}  // namespace parlance::fuzz
