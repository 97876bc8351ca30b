// Moments for --now: reading one, and asking the clock. The library itself never does the latter.
#pragma once
#include <optional>
#include <string_view>

#include "parlance/civil_time.h"

namespace parlance::cli {

/// 2026-03-14, 2026-03-14T15:09, 2026-03-14 15:09:26 or 2026-03-14T15:09:26.5; nothing for anything
/// else.
std::optional<CivilTime> parse_time(std::string_view text);
CivilTime local_time_now();

}  // namespace parlance::cli
