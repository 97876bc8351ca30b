// Whole numbers on the command line: what is none, or out of range, is refused with the range.
#pragma once
#include <cstdint>

#include "cli/options.h"

namespace parlance::cli {

/// A check of an option: "" for digits without leading zeros whose number is in [least, most], else what is wrong.
ValueCheck whole_number(std::uint64_t least, std::uint64_t most);

inline constexpr std::uint64_t kMostThreads = 1024;

}  // namespace parlance::cli
