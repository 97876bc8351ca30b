// Random ids.
#include "serve/random_id.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace parlance::serve {

std::string random_id(std::string_view prefix) {
  std::array<unsigned char, 12> bytes{};
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t more = ::getrandom(bytes.data() + got, bytes.size() - got, 0);
    if (more < 0 && errno != EINTR) std::abort();  // no id may be one that can be guessed
    if (more > 0) got += static_cast<std::size_t>(more);
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string made(prefix);
  for (const unsigned char byte : bytes) (made += kDigits[byte >> 4]) += kDigits[byte & 15];
  return made;
}

}  // namespace parlance::serve
