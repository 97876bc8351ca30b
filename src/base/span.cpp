// The names of origins; see parlance/span.h.
#include "parlance/span.h"

namespace parlance {

std::string_view origin_name(Origin origin) {
  constexpr std::string_view kNames[] = {"literal", "input", "derived", "computed"};
  return kNames[static_cast<std::size_t>(origin)];
}

}  // namespace parlance
