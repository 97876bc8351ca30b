// The arguments of a call, held against the schema of its tool.
#pragma once
#include <string>
#include <string_view>

#include "parlance/result.h"

namespace parlance::agent {

/// The arguments on one line.
/// Fails with: json (no object); value (they do not fit the schema; with what was expected, for the model).
Result<std::string> fitting_arguments(std::string_view parameters, std::string_view arguments);

}  // namespace parlance::agent
