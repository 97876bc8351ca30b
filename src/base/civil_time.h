// What a moment of the caller's may be: a month has a name, a day is one of its month.
#pragma once
#include <optional>

#include "parlance/civil_time.h"
#include "parlance/error.h"

namespace parlance {

/// Of a month from 1 to 12.
int days_in_month(int year, int month);

/// Why this is no moment, by the first member that is out of range; none where it is one.
std::optional<Error> why_no_moment(const CivilTime& time);

}  // namespace parlance
