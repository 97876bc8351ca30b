// Random ids and numbers.
#include "serve/random_id.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <span>

namespace parlance::serve {

namespace {

void fill(std::span<unsigned char> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno != EINTR) std::abort();  // no id may be one that can be guessed
    if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

/// Random bytes of which each is given once. The system is asked for many at a time.
class RandomBytes {
 public:
  std::span<const unsigned char> take(std::size_t count) {
    if (bytes_.size() - used_ < count) {
      fill(bytes_);
      used_ = 0;
    }
    used_ += count;
    return std::span(bytes_).subspan(used_ - count, count);
  }

 private:
  std::array<unsigned char, 240> bytes_{};
  std::size_t used_ = bytes_.size();
};

RandomBytes& random_of_thread() {
  static thread_local RandomBytes random;
  return random;
}

}  // namespace

std::uint32_t random_number(std::uint32_t limit) {
  std::uint32_t made = 0;
  for (const unsigned char byte : random_of_thread().take(sizeof made)) made = made << 8 | byte;
  return made % limit;
}

std::string random_id(std::string_view prefix) {
  constexpr std::size_t kBytes = 12;
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string made(prefix);
  for (const unsigned char byte : random_of_thread().take(kBytes)) (made += kDigits[byte >> 4]) += kDigits[byte & 15];
  return made;
}

}  // namespace parlance::serve
