// A moment as JSON: [2026, 11, 28, 14, 30, 0, 0], from the year to the microsecond.
#pragma once
#include <optional>
#include <string>

#include "parlance/civil_time.h"
#include "parlance/value.h"

namespace parlance::serve {

std::string moment_json(const CivilTime& moment);
/// Unset: the value is no list of seven numbers that moments may have.
std::optional<CivilTime> moment_of(Value list);

}  // namespace parlance::serve
