// UTF-8 as the engine holds it: decoding, encoding, counting and checking of text.
//
// Text is "generalised" UTF-8: lone surrogates may appear as three bytes, because a Python str can
// hold them. The doors let only such text in (see validity and repair); the functions here stay
// within bounds on any bytes, and read a malformed byte as one U+FFFD of size one.
// Leans on nothing. Begin reading at decode; what characters *mean* is in unicode.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace parlance::utf8 {

inline constexpr char32_t kReplacement = 0xFFFD;
inline constexpr char32_t kMaxCodePoint = 0x10FFFF;

/// One code point and the number of bytes it was read from.
struct Decoded {
  char32_t code_point;
  uint32_t size;
};

constexpr bool is_surrogate(char32_t cp) { return cp >= 0xD800 && cp <= 0xDFFF; }
constexpr bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

namespace detail {

inline constexpr Decoded kMalformed = {kReplacement, 1};

constexpr uint32_t payload(char byte) { return static_cast<uint8_t>(byte) & 0x3F; }

/// The part of decode that sees a byte of 0x80 or more; `p < end`.
inline Decoded decode_multibyte(const char* p, const char* end) {
  const uint32_t lead = static_cast<uint8_t>(*p);
  const ptrdiff_t left = end - p;
  if (lead < 0xC2 || lead > 0xF4 || left < 2 || !is_continuation(p[1])) return kMalformed;
  if (lead < 0xE0) return {static_cast<char32_t>((lead & 0x1F) << 6 | payload(p[1])), 2};
  if (left < 3 || !is_continuation(p[2])) return kMalformed;
  const uint32_t upper = payload(p[1]) << 6 | payload(p[2]);
  if (lead < 0xF0) {
    const char32_t cp = (lead & 0x0F) << 12 | upper;
    return cp >= 0x800 ? Decoded{cp, 3} : kMalformed;
  }
  if (left < 4 || !is_continuation(p[3])) return kMalformed;
  const char32_t cp = (lead & 0x07) << 18 | upper << 6 | payload(p[3]);
  return cp >= 0x10000 && cp <= kMaxCodePoint ? Decoded{cp, 4} : kMalformed;
}

}  // namespace detail

/// The code point that begins at `p`.
///
/// A byte that begins no well-formed sequence is {U+FFFD, 1}, so a loop always moves on; only at
/// `p == end` is the size 0.
inline Decoded decode(const char* p, const char* end) {
  if (p >= end) return {kReplacement, 0};
  if (static_cast<uint8_t>(*p) < 0x80) return {static_cast<char32_t>(*p), 1};
  return detail::decode_multibyte(p, end);
}

/// The code point that ends at `p`; size 0 at `p == begin`. Cuts any bytes exactly where decode
/// does when both walk the whole string.
inline Decoded decode_back(const char* begin, const char* p) {
  if (p <= begin) return {kReplacement, 0};
  if (static_cast<uint8_t>(p[-1]) < 0x80) return {static_cast<char32_t>(p[-1]), 1};
  const ptrdiff_t longest = p - begin < 4 ? p - begin : 4;
  ptrdiff_t size = 1;
  while (size < longest && is_continuation(p[-size])) ++size;
  const Decoded found = decode(p - size, p);
  return found.size == static_cast<uint32_t>(size) ? found : detail::kMalformed;
}

/// Writes `cp` and returns its size in bytes. Surrogates take three; what is beyond U+10FFFF is
/// written as U+FFFD.
inline uint32_t encode(char32_t cp, char out[4]) {
  const auto tail = [cp](int shift) { return static_cast<char>(0x80 | (cp >> shift & 0x3F)); };
  if (cp < 0x80) {
    out[0] = static_cast<char>(cp);
    return 1;
  }
  if (cp < 0x800) {
    out[0] = static_cast<char>(0xC0 | cp >> 6);
    out[1] = tail(0);
    return 2;
  }
  if (cp > kMaxCodePoint) return encode(kReplacement, out);
  if (cp < 0x10000) {
    out[0] = static_cast<char>(0xE0 | cp >> 12);
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | cp >> 18);
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

/// Appends the bytes of `cp` as encode writes them.
inline void append(std::string& out, char32_t cp) {
  if (cp < 0x80) {
    out.push_back(static_cast<char>(cp));
    return;
  }
  char bytes[4];
  out.append(bytes, encode(cp, bytes));
}

/// The number of code points, len() in Python. In malformed text it is the number of bytes that
/// are not continuation bytes, the scale offset_of uses too.
size_t count(std::string_view text);

/// The byte offset of code point number `n` (from 0), or `text.size()` when there are not so many.
size_t offset_of(std::string_view text, size_t n);

/// The length in bytes of the longest prefix that is ASCII.
size_t ascii_prefix(std::string_view text);

bool is_ascii(std::string_view text);

/// The longest beginning of `text` that has at most `most` bytes and ends with a whole character. In malformed text it
/// is at most three bytes shorter than it could be.
inline std::string_view whole_prefix(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t size = most;
  while (size > 0 && most - size < 3 && is_continuation(text[size])) --size;
  return text.substr(0, size);
}

/// The longest end of `text` that has at most `most` bytes and begins with a whole character.
inline std::string_view whole_suffix(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t size = most;
  while (size > 0 && most - size < 3 && is_continuation(text[text.size() - size])) --size;
  return text.substr(text.size() - size);
}

/// How well-formed a text is, worst first.
enum class Validity : uint8_t {
  malformed,       ///< some byte belongs to no sequence
  has_surrogates,  ///< Python can hold it, but it is no UTF-8: must not leave the engine as bytes
  valid,           ///< UTF-8 as the standard defines it
};

Validity validity(std::string_view text);

/// Whether `text` is UTF-8, where lone surrogates count as well-formed if `allow_surrogates`.
bool is_valid(std::string_view text, bool allow_surrogates);

/// Whether a surrogate occurs in `text`, in otherwise malformed text too.
bool has_surrogates(std::string_view text);

/// `text` with each malformed byte replaced by U+FFFD. Surrogates stay.
std::string repair(std::string_view text);

}  // namespace parlance::utf8
