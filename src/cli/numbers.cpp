// See numbers.h.
#include "cli/numbers.h"

#include <charconv>
#include <string>

namespace parlance::cli {

ValueCheck whole_number(std::uint64_t least, std::uint64_t most) {
  return [least, most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, failed] = std::from_chars(text.data(), end, value);
    const bool is_plain = failed == std::errc() && stopped == end && (text.size() == 1 || text.front() != '0');
    if (is_plain && value >= least && value <= most) return {};
    return "takes a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", not '" + text +
           "'";
  };
}

}  // namespace parlance::cli
