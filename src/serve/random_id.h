// Ids that nobody can guess, and random numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace parlance::serve {

/// `prefix`, and 24 hexadecimal digits of the system's random numbers.
std::string random_id(std::string_view prefix);
/// A number below `limit`; each process has others. `limit` is far below 2³².
std::uint32_t random_number(std::uint32_t limit);

}  // namespace parlance::serve
