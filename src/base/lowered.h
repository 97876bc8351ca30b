// A text in lower case, where only ASCII counts: names of headers, hosts, roles.
#pragma once
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace parlance::ascii {

inline std::string lowered(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = lower(c);
  return made;
}

}  // namespace parlance::ascii
