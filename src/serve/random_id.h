// Ids that nobody can guess.
#pragma once
#include <string>
#include <string_view>

namespace parlance::serve {

/// `prefix`, and 24 hexadecimal digits of the system's random numbers.
std::string random_id(std::string_view prefix);

}  // namespace parlance::serve
