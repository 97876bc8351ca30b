// The time, for records and the log.
#pragma once
#include <string>

namespace parlance::serve {

/// In UTC, as RFC 3339 has it: "2026-03-14T15:09:26.535Z".
std::string utc_now();

}  // namespace parlance::serve
