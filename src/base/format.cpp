// The one file that has fmt's code in it.
#define FMT_HEADER_ONLY 1
#include "base/format.h"

#include <fmt/format.h>

namespace parlance {

std::string format_arguments(fmt::string_view pattern, fmt::format_args arguments) {
  return fmt::vformat(pattern, arguments);
}

}  // namespace parlance
