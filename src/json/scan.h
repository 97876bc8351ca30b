// Writing the characters of a JSON string: find what needs an escape, copy everything before it.
//
// Sixteen bytes at a time with SSE2, eight with plain words elsewhere. Never reads past the text.
// Source of the escapes: CPython 3.11 Modules/_json.c (ascii_escape_unichar, escape_unicode), and
// Jinja2 3.1 utils.py (htmlsafe_json_dumps). Begin reading at escape_json.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/utf8.h"

namespace parlance::json_scan {

/// Which characters are escaped besides control characters, the quote and the backslash.
struct Plain {
  static constexpr bool kAscii = false;  ///< DEL and everything outside ASCII too
  static constexpr bool kHtml = false;   ///< & < > and ' too
};
struct Ascii : Plain {
  static constexpr bool kAscii = true;
};
struct Html : Plain {
  static constexpr bool kHtml = true;
};
struct AsciiHtml : Html {
  static constexpr bool kAscii = true;
};

/// Bytes that one byte of text may become; a block may be stored past them.
inline constexpr std::size_t kWorst = 6;
inline constexpr std::size_t kSlack = 16;

struct Escape {
  char text[7];
  std::uint8_t size;  ///< 0: the character stands for itself
};

constexpr Escape escape_unit(std::uint32_t unit) {
  constexpr char kHex[] = "0123456789abcdef";
  return {{'\\', 'u', kHex[unit >> 12 & 15], kHex[unit >> 8 & 15], kHex[unit >> 4 & 15], kHex[unit & 15]}, 6};
}

template <typename Mode>
constexpr std::array<Escape, 128> make_escapes() {
  constexpr std::string_view kShort = "\bb\ff\nn\rr\tt\"\"\\\\";  // character, letter
  std::array<Escape, 128> table{};
  for (std::uint32_t c = 0; c < 0x20; ++c) table[c] = escape_unit(c);
  for (std::size_t i = 0; i < kShort.size(); i += 2) {
    table[static_cast<std::size_t>(kShort[i])] = {{'\\', kShort[i + 1]}, 2};
  }
  if (Mode::kAscii) table[0x7F] = escape_unit(0x7F);
  if (Mode::kHtml) {
    for (const char c : std::string_view("&<>'")) table[static_cast<std::size_t>(c)] = escape_unit(c);
  }
  return table;
}

template <typename Mode>
inline constexpr std::array<Escape, 128> kEscapes = make_escapes<Mode>();

template <typename Mode>
bool needs_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x80 ? kEscapes<Mode>[byte].size != 0 : Mode::kAscii;
}

inline std::uint64_t load64(const char* p) {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}
inline std::uint32_t load32(const char* p) {
  std::uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

/// The bytes to escape in a word, each marked by its top bit. Only the one at the lowest address is
/// exact: a borrow may mark bytes behind it.
template <typename Mode>
std::uint64_t word_hits(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  if constexpr (std::endian::native == std::endian::big) bytes = __builtin_bswap64(bytes);
  const auto equal = [bytes](char c) {
    const std::uint64_t x = bytes ^ kOnes * static_cast<unsigned char>(c);
    return (x - kOnes) & ~x;
  };
  std::uint64_t found = ((bytes - kOnes * 0x20) & ~bytes) | equal('"') | equal('\\');
  if (Mode::kAscii) found |= bytes | equal('\x7F');
  if (Mode::kHtml) found |= equal('&') | equal('<') | equal('>') | equal('\'');
  return found & kOnes * 0x80;
}

// A block: copy it, and learn where its first character to escape is, as a number of bits, kBits
// for each byte; or 0.

#if defined(__SSE2__)
template <typename Mode>
struct Block {
  static constexpr std::size_t kSize = 16;
  static constexpr unsigned kBits = 1;

  static std::uint64_t hits(__m128i bytes) {
    const auto equal = [bytes](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
    __m128i found = _mm_or_si128(equal('"'), equal('\\'));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes));
    if (Mode::kHtml) {
      found = _mm_or_si128(found, _mm_or_si128(equal('&'), equal('<')));
      found = _mm_or_si128(found, _mm_or_si128(equal('>'), equal('\'')));
    }
    // movemask takes the top bits, which are set in all that is not ASCII.
    if (Mode::kAscii) found = _mm_or_si128(found, _mm_or_si128(bytes, equal('\x7F')));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(found));
  }
  static std::uint64_t copy(const char* in, char* out) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
    return hits(bytes);
  }
  static bool both_clean(std::uint64_t a, std::uint64_t b) {
    return hits(_mm_set_epi64x(static_cast<long long>(b), static_cast<long long>(a))) == 0;
  }
};
/// The bytes to escape among 64, a bit for each.
template <typename Mode>
std::uint64_t chunk_hits(const char* in) {
  std::uint64_t hits = 0;
  for (unsigned i = 0; i < 4; ++i) {
    hits |= Block<Mode>::hits(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + std::size_t{16} * i))) << 16 * i;
  }
  return hits;
}
#else
template <typename Mode>
struct Block {
  static constexpr std::size_t kSize = 8;
  static constexpr unsigned kBits = 8;

  static std::uint64_t copy(const char* in, char* out) {
    std::memcpy(out, in, kSize);
    return word_hits<Mode>(load64(in));
  }
  static bool both_clean(std::uint64_t a, std::uint64_t b) { return (word_hits<Mode>(a) | word_hits<Mode>(b)) == 0; }
};
#endif

/// Writes the escape of the character at `in` and returns how many bytes of text that was.
template <typename Mode>
std::size_t write_escape(const char* in, const char* end, char*& out) {
  const auto byte = static_cast<unsigned char>(*in);
  if (!Mode::kAscii || byte < 0x80) {
    const Escape& escape = kEscapes<Mode>[byte & 0x7F];
    std::memcpy(out, escape.text, sizeof escape.text);
    out += escape.size;
    return 1;
  }
  const utf8::Decoded d = utf8::decode(in, end);
  std::uint32_t unit = d.code_point;
  if (unit >= 0x10000) {
    std::memcpy(out, escape_unit(0xD800 + ((unit - 0x10000) >> 10)).text, 6);
    out += 6;
    unit = 0xDC00 + (unit & 0x3FF);
  }
  std::memcpy(out, escape_unit(unit).text, 6);
  out += 6;
  return d.size;
}

/// Copies whole blocks and escapes until fewer bytes than a block are left. Returns where it
/// stopped.
template <typename Mode>
const char* escape_blocks(const char* in, const char* end, char*& out) {
  using B = Block<Mode>;
  while (static_cast<std::size_t>(end - in) >= B::kSize) {
    const std::uint64_t hits = B::copy(in, out);
    if (hits == 0) {
      in += B::kSize;
      out += B::kSize;
      continue;
    }
    const unsigned clean = static_cast<unsigned>(std::countr_zero(hits)) / B::kBits;
    in += clean;
    out += clean;
    in += write_escape<Mode>(in, end, out);
  }
  return in;
}

#if defined(__SSE2__)
/// Copies at most 64 bytes, in whole vectors: reads and writes 32 bytes at least, and 64 at most.
inline char* copy_gap(const char* in, std::size_t size, char* out) {
  std::memcpy(out, in, 32);
  if (size > 32) std::memcpy(out + 32, in + 32, 32);
  return out + size;
}

/// The same as escape_blocks() for long text, by 64 bytes: where the escapes are is known for all of them before the
/// first is written, so that no load waits for where the one before ended.
template <typename Mode>
const char* escape_chunks(const char* in, const char* end, char*& out) {
  static_assert(!Mode::kAscii, "a character is one hit");
  constexpr std::size_t kChunk = 64;
  constexpr std::size_t kAhead = 32;  // what copy_gap may read behind a chunk
  char* to = out;
  for (; static_cast<std::size_t>(end - in) >= kChunk + kAhead; in += kChunk) {
    const char* from = in;
    for (std::uint64_t hits = chunk_hits<Mode>(in); hits != 0; hits &= hits - 1) {
      const char* const at = in + std::countr_zero(hits);
      to = copy_gap(from, static_cast<std::size_t>(at - from), to);
      write_escape<Mode>(at, end, to);
      from = at + 1;
    }
    to = copy_gap(from, static_cast<std::size_t>(in + kChunk - from), to);
  }
  out = to;
  return in;
}
#endif

/// Copies fewer than 16 bytes by loads that overlap, if none of them needs an escape.
template <typename Mode>
[[gnu::always_inline]] inline bool copy_clean(const char* in, std::size_t size, char* out) {
  if (size >= 8) {
    const std::uint64_t first = load64(in);
    const std::uint64_t last = load64(in + size - 8);
    if (!Block<Mode>::both_clean(first, last)) return false;
    std::memcpy(out, &first, 8);
    std::memcpy(out + size - 8, &last, 8);
    return true;
  }
  if (size >= 4) {
    const std::uint32_t first = load32(in);
    const std::uint32_t last = load32(in + size - 4);
    const std::uint64_t both = std::uint64_t{first} << 32 | last;
    if (!Block<Mode>::both_clean(both, both)) return false;
    std::memcpy(out, &first, 4);
    std::memcpy(out + size - 4, &last, 4);
    return true;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (needs_escape<Mode>(in[i])) return false;
    out[i] = in[i];
  }
  return true;
}

/// The last bytes, fewer than 16, where some need an escape.
template <typename Mode>
char* escape_bytes(const char* in, const char* end, char* out) {
  while (in < end) {
    if (needs_escape<Mode>(*in)) {
      in += write_escape<Mode>(in, end, out);
    } else {
      *out++ = *in++;
    }
  }
  return out;
}

/// Writes `text` as the inside of a JSON string; `out` has room for kWorst times its size and
/// kSlack more. Returns the new end.
template <typename Mode>
char* escape_json(std::string_view text, char* out) {
  const char* const end = text.data() + text.size();
  const char* in = text.data();
#if defined(__SSE2__)
  if constexpr (!Mode::kAscii) in = escape_chunks<Mode>(in, end, out);
#endif
  if (static_cast<std::size_t>(end - in) >= Block<Mode>::kSize) in = escape_blocks<Mode>(in, end, out);
  const auto left = static_cast<std::size_t>(end - in);
  return copy_clean<Mode>(in, left, out) ? out + left : escape_bytes<Mode>(in, end, out);
}

}  // namespace parlance::json_scan
