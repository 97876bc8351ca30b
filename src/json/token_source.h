// Where TokenReader gets its tokens from: simdjson's index of them, or the text itself as it goes along.
//
// An index is found 64 bytes at a time, so the way to the next token does not wait for the end of a string. Without one
// a long text takes half again the time, a short one about the same. Both give the same tokens and refuse the same
// texts. Begin reading at ScannedTokens.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/unescape.h"

namespace parlance::json_tokens {

using ascii::is_space;

/// Where a string has its first backslash and where its closing quote; the same where it has no backslash.
struct StringEnds {
  char* escape;
  char* end;  ///< null: refused
};

/// Tokens by their offsets. simdjson has checked strings and UTF-8.
class IndexedTokens {
 public:
  IndexedTokens(char* text, const std::uint32_t* tokens, std::uint32_t count)
      : text_(text), token_(tokens), end_(tokens + count) {}

  /// The next token.
  char* take() { return text_ + *token_++; }
  bool take(char c) {
    if (text_[*token_] != c) return false;
    ++token_;
    return true;
  }
  /// The string ends at the last quote before the next token: only space lies between.
  StringEnds take_string(char* begin) {
    char* end = text_ + *token_ - 1;
    while (*end != '"') {
      if (!is_space(*end)) return {nullptr, nullptr};
      --end;
    }
    return {json_escape::find_backslash(begin, end), end};
  }
  /// Does a number or word that was taken end here?
  bool take_scalar(const char* end) { return end == text_ + *token_ || is_space(*end); }
  bool at_end() const { return token_ == end_; }

 private:
  char* text_;
  const std::uint32_t* token_;
  const std::uint32_t* end_;
};

/// Which bytes of a stretch of text end a string, begin an escape or may not stand in one, kBits for each byte;
/// and which are not ASCII.
struct StringMask {
  std::uint64_t hits;
  std::uint64_t high;
};

#if defined(__SSE2__)
inline constexpr std::size_t kStretch = 64;
inline constexpr unsigned kBits = 1;

inline StringMask string_mask_16(const char* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i escapes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  const __m128i hits = _mm_or_si128(_mm_or_si128(quotes, escapes), control);
  return {static_cast<std::uint32_t>(_mm_movemask_epi8(hits)), static_cast<std::uint32_t>(_mm_movemask_epi8(bytes))};
}
inline StringMask first_mask(const char* p) { return string_mask_16(p); }
inline StringMask string_mask(const char* p) {
  StringMask all{0, 0};
  for (unsigned i = 0; i < kStretch; i += 16) {
    const StringMask part = string_mask_16(p + i);
    all.hits |= part.hits << i;
    all.high |= part.high << i;
  }
  return all;
}
#else
inline constexpr std::size_t kStretch = 8;
inline constexpr unsigned kBits = 8;

inline StringMask string_mask(const char* p) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = kOnes * 0x80;
  std::uint64_t x;
  std::memcpy(&x, p, sizeof x);
  if constexpr (std::endian::native == std::endian::big) x = __builtin_bswap64(x);
  // The top bits of those bytes that are zero.
  const auto zero = [](std::uint64_t y) { return ~(((y & ~kTops) + ~kTops) | y | ~kTops); };
  return {zero(x ^ kOnes * '"') | zero(x ^ kOnes * '\\') | zero(x & kOnes * 0xE0), x & kTops};
}
inline StringMask first_mask(const char* p) { return string_mask(p); }
#endif

/// Tokens found by reading on. The text is followed by NULs, which nothing here accepts: a block of them at least.
class ScannedTokens {
 public:
  ScannedTokens(char* text, std::size_t size) : next_(text), end_(text + size) {}

  char* take() {
    skip_space();
    return next_++;
  }
  bool take(char c) {
    skip_space();
    if (*next_ != c) return false;
    ++next_;
    return true;
  }
  StringEnds take_string(char* begin) {
    const StringMask first = first_mask(begin);  // most strings are short, and without escapes
    if (first.hits != 0) {
      char* const hit = begin + index_of(first.hits);
      if (*hit == '"') return ended(begin, hit, hit, first.high & below(first.hits));
    }
    return take_long_string(begin);
  }
  bool take_scalar(const char* end) {
    next_ += end - next_;
    return is_space(*end) || *end == ',' || *end == ']' || *end == '}' || end == end_;
  }
  bool at_end() {
    skip_space();
    return next_ == end_;
  }

 private:
  void skip_space() {
    while (is_space(*next_)) ++next_;
  }
  static std::size_t index_of(std::uint64_t hits) { return static_cast<unsigned>(std::countr_zero(hits)) / kBits; }
  static std::uint64_t below(std::uint64_t hits) { return (hits - 1) & ~hits; }

  [[gnu::noinline]] StringEnds take_long_string(char* const begin) {
    char* escape = nullptr;
    std::uint64_t high = 0;
    char* from = begin;  // up to here the text is known
    for (char* p = begin;; p += kStretch) {
      StringMask mask = string_mask(p);
      if (from > p) mask.hits &= ~std::uint64_t{0} << kBits;  // after a backslash that ended the stretch before
      for (; mask.hits != 0; mask.hits &= drop(from - p)) {
        char* const hit = p + index_of(mask.hits);
        if (*hit == '"') {
          return ended(begin, escape == nullptr ? hit : escape, hit, high | (mask.high & below(mask.hits)));
        }
        if (*hit != '\\') return {nullptr, nullptr};
        if (escape == nullptr) escape = hit;
        from = hit + 2;
      }
      high |= mask.high;
    }
  }
  /// A mask without the first bytes of a stretch.
  static std::uint64_t drop(std::ptrdiff_t bytes) {
    return bytes < static_cast<std::ptrdiff_t>(kStretch) ? ~std::uint64_t{0} << (bytes * kBits) : 0;
  }
  StringEnds ended(char* begin, char* escape, char* end, std::uint64_t high) {
    next_ = end + 1;
    const std::string_view text{begin, static_cast<std::size_t>(end - begin)};
    if (high != 0 && !utf8::is_valid(text, false)) return {nullptr, nullptr};
    return {escape, end};
  }

  char* next_;  ///< behind the last token
  char* end_;
};

}  // namespace parlance::json_tokens
