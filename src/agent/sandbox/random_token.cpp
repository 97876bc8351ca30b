// Asks the kernel for random bytes.
#include "agent/sandbox/random_token.h"

#include <sys/random.h>

namespace parlance::agent {

std::string random_token() {
  unsigned char bytes[16];
  while (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) continue;
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

}  // namespace parlance::agent
