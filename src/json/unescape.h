// Escapes decoded where they stand: no decoded string is longer than its JSON.
//
// Text is looked at 64 bytes at a time: one word of 64 bits says where the backslashes are, so that the next one is
// known before the bytes up to it were moved. Reads up to a block past the end, so the text must be padded. Begin
// reading at Unescaper::decode.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include "json/escape.h"

namespace parlance::json_escape {

inline constexpr std::size_t kBlock = 64;

#if defined(__SSE2__)
inline std::uint64_t backslashes_in_16(const char* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
}

/// A bit for each of the kBlock bytes at `p` that is a backslash, the lowest bit for the first byte.
inline std::uint64_t backslashes(const char* p) {
  return backslashes_in_16(p) | backslashes_in_16(p + 16) << 16 | backslashes_in_16(p + 32) << 32 |
         backslashes_in_16(p + 48) << 48;
}
#else
inline std::uint64_t backslashes_in_8(const char* p) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kLow = kOnes * 0x7F;
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
  const std::uint64_t x = bytes ^ kOnes * '\\';
  const std::uint64_t zero = ~(((x & kLow) + kLow) | x | kLow);  // the top bit of each byte of x that is zero
  return (zero >> 7) * 0x0102040810204080 >> 56;                 // gathered
}

/// A bit for each of the kBlock bytes at `p` that is a backslash, the lowest bit for the first byte.
inline std::uint64_t backslashes(const char* p) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < kBlock; i += 8) bits |= backslashes_in_8(p + i) << i;
  return bits;
}
#endif

/// The first backslash in [p, end), or `end`.
inline char* find_backslash(char* p, char* end) {
  const auto size = static_cast<std::size_t>(end - p);
#if defined(__SSE2__)
  if (size <= 16) {  // most strings
    const std::uint64_t hits = backslashes_in_16(p) | std::uint64_t{1} << 16;
    const auto at = static_cast<std::size_t>(std::countr_zero(hits));
    return at < size ? p + at : end;
  }
#endif
  if (size > kBlock) {
    auto* found = static_cast<char*>(std::memchr(p, '\\', size));
    return found == nullptr ? end : found;
  }
  const std::uint64_t hits = backslashes(p);
  const auto at = static_cast<std::size_t>(std::countr_zero(hits));
  return at < size ? p + at : end;
}

/// Decodes one string. With kWrite false it only finds out whether it could.
template <bool kWrite>
class Unescaper {
 public:
  char* decode(char* first, char* end) {
    in_ = out_ = first;
    end_ = end;
    for (char* block = first; block < end; block += kBlock) {
      std::uint64_t hits = backslashes(block);
      if (in_ > block) hits = drop_below(hits, in_ - block);
      while (hits != 0) {
        char* const escape = block + std::countr_zero(hits);
        if (escape >= end) break;
        move_to(escape);
        if (!take_escape()) return nullptr;
        hits = drop_below(hits, in_ - block);
      }
    }
    move_to(end);
    return out_;
  }

 private:
  static std::uint64_t drop_below(std::uint64_t hits, std::ptrdiff_t bit) {
    return bit < 64 ? hits & ~std::uint64_t{0} << bit : 0;
  }

  /// Moves the bytes from in_ to `stop`. Most runs are short, and after some escapes there is so much room between out_
  /// and in_ that storing a fixed number of bytes overwrites nothing unread.
  void move_to(char* stop) {
    constexpr std::size_t kShort = 32;
    const auto size = static_cast<std::size_t>(stop - in_);
    if (kWrite) {
      if (size > kShort) {
        std::memmove(out_, in_, size);
      } else if (static_cast<std::size_t>(in_ - out_) >= kShort) {
        std::memcpy(out_, in_, kShort);
      } else {
        copy_bytes(out_, in_, size);  // loads before it stores, or goes forward
      }
    }
    out_ += size;
    in_ = stop;
  }

  bool take_escape() {
    if (end_ - in_ < 2) return false;
    if (in_[1] == 'u') return take_unicode();
    const char c = unescaped(in_[1]);
    if (kWrite) *out_ = c;
    ++out_;
    in_ += 2;
    return c != '\0';
  }

  bool take_unicode() {
    std::uint32_t unit = 0;
    if (!read_unit(unit) || is_low_surrogate(unit)) return false;
    if (is_high_surrogate(unit)) {
      std::uint32_t low = 0;
      if (end_ - in_ < 2 || in_[0] != '\\' || in_[1] != 'u' || !read_unit(low)) return false;
      if (!is_low_surrogate(low)) return false;
      unit = join_surrogates(unit, low);
    }
    char bytes[4];
    const std::uint32_t size = utf8::encode(unit, bytes);
    if (kWrite) std::memcpy(out_, bytes, size);
    out_ += size;
    return true;
  }

  /// The unit of the \uXXXX at in_, which it passes.
  bool read_unit(std::uint32_t& unit) {
    constexpr std::ptrdiff_t kSize = 6;
    if (end_ - in_ < kSize) return false;
    for (const char* digit = in_ + 2; digit < in_ + kSize; ++digit) {
      const int value = ascii::hex_value(*digit);
      if (value < 0) return false;
      unit = unit << 4 | static_cast<std::uint32_t>(value);
    }
    in_ += kSize;
    return true;
  }

  char* in_ = nullptr;
  char* out_ = nullptr;
  char* end_ = nullptr;
};

/// Decodes [first, end), whose first byte is a backslash, in place. Returns the end of the decoded bytes; null for an
/// escape that is none, or half of a surrogate pair.
template <bool kWrite>
[[gnu::noinline]] char* unescape(char* first, char* end) {
  return Unescaper<kWrite>().decode(first, end);
}

}  // namespace parlance::json_escape
