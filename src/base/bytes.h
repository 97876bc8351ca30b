// Comparing short byte strings without a call: names and roles are a few bytes long, and memcmp costs more than they
// do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace parlance {

namespace detail {
template <typename Word>
inline bool same_word(const char* a, const char* b) {
  Word x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x == y;
}
struct Bytes16 {
  char bytes[16];
};
/// Copies n bytes as two words that may overlap: sizeof(Word) <= n <= 2 * sizeof(Word). Both are loaded before either
/// is stored.
template <typename Word>
inline void copy_ends(char* to, const char* from, std::size_t n) {
  Word head, tail;
  std::memcpy(&head, from, sizeof head);
  std::memcpy(&tail, from + n - sizeof tail, sizeof tail);
  std::memcpy(to, &head, sizeof head);
  std::memcpy(to + n - sizeof tail, &tail, sizeof tail);
}
/// Two words that cover n bytes between them, overlapping: sizeof(Word) <= n <= 2 * sizeof(Word).
template <typename Word>
inline bool same_ends(const char* a, const char* b, std::size_t n) {
  return same_word<Word>(a, b) && same_word<Word>(a + n - sizeof(Word), b + n - sizeof(Word));
}
}  // namespace detail

/// Copies n bytes; short ones without a call.
inline void copy_bytes(char* to, const char* from, std::size_t n) {
  if (n > 32) {
    std::memcpy(to, from, n);
  } else if (n >= 16) {
    detail::copy_ends<detail::Bytes16>(to, from, n);
  } else if (n >= 8) {
    detail::copy_ends<std::uint64_t>(to, from, n);
  } else if (n >= 4) {
    detail::copy_ends<std::uint32_t>(to, from, n);
  } else if (n >= 2) {
    detail::copy_ends<std::uint16_t>(to, from, n);
  } else if (n != 0) {
    *to = *from;
  }
}

/// Are the n bytes at a and b the same?
inline bool equal_bytes(const char* a, const char* b, std::size_t n) {
  if (n - 4 <= 4) return detail::same_ends<std::uint32_t>(a, b, n);  // 4 to 8: most names
  if (n > 32) return std::memcmp(a, b, n) == 0;
  if (n > 16)
    return detail::same_ends<std::uint64_t>(a, b, 16) && detail::same_ends<std::uint64_t>(a + n - 16, b + n - 16, 16);
  if (n >= 8) return detail::same_ends<std::uint64_t>(a, b, n);
  if (n >= 2) return detail::same_ends<std::uint16_t>(a, b, n);
  return n == 0 || *a == *b;
}

/// A name of 4 to 8 bytes, to be compared with many of the same size.
class ShortName {
 public:
  static bool fits(std::string_view name) { return name.size() - 4 <= 4; }
  ShortName() = default;
  explicit ShortName(std::string_view name) : size_(static_cast<std::uint32_t>(name.size())) {
    std::memcpy(&first_, name.data(), 4);
    std::memcpy(&last_, name.data() + size_ - 4, 4);
  }
  std::uint32_t size() const { return size_; }
  bool is(const char* other) const {
    std::uint32_t first, last;
    std::memcpy(&first, other, 4);
    std::memcpy(&last, other + size_ - 4, 4);
    return first == first_ && last == last_;
  }

 private:
  std::uint32_t size_ = 0;
  std::uint32_t first_ = 0, last_ = 0;
};

inline bool equal_bytes(std::string_view a, std::string_view b) {
  return a.size() == b.size() && equal_bytes(a.data(), b.data(), a.size());
}

}  // namespace parlance
