// Members by which the answer to a line is known for an error.
#pragma once
#include <string_view>

namespace parlance {

inline bool tells_errors(std::string_view name) { return name == "error" || name == "line"; }

}  // namespace parlance
