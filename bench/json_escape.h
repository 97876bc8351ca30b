// Strings and floats as Python's json.dumps(ensure_ascii=False) writes them, as fast as we know
// how.
//
// A string is copied in blocks of 16 bytes (SSE2) or 8 (plain words), looking for characters to
// escape on the way. Used by the hand-written renderer. Both functions write to memory that has to
// be large enough and return the new end. Start with write_json_string().
#ifndef PARLANCE_BENCH_JSON_ESCAPE_H_
#define PARLANCE_BENCH_JSON_ESCAPE_H_

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace parlance::bench {

struct Escape {
  char text[7];
  uint8_t size;
};

/// Python 3.11 Lib/json/encoder.py: control characters, the quote and the backslash; not DEL.
constexpr std::array<Escape, 128> make_escapes() {
  constexpr char kHex[] = "0123456789abcdef";
  constexpr char kShort[] = "\bb\ff\nn\rr\tt\"\"\\\\";  // character, letter
  std::array<Escape, 128> table{};
  for (size_t c = 0; c < 0x20; ++c) {
    table[c] = {{'\\', 'u', '0', '0', kHex[c >> 4], kHex[c & 15]}, 6};
  }
  for (size_t i = 0; i + 1 < sizeof kShort; i += 2) {
    table[static_cast<size_t>(kShort[i])] = {{'\\', kShort[i + 1]}, 2};
  }
  return table;
}

inline constexpr std::array<Escape, 128> kEscapes = make_escapes();

/// Copies one block and tells where in it characters to escape are.
struct Block {
#if defined(__SSE2__)
  static constexpr unsigned kSize = 16;
  static constexpr unsigned kBitsPerByte = 1;

  static uint64_t copy(const char* from, char* to) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
    const __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    const __m128i backslash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)));
  }
#else
  static constexpr unsigned kSize = 8;
  static constexpr unsigned kBitsPerByte = 8;

  /// The lowest bit that is set is right; higher ones may be set by a borrow, which does no harm
  /// since the block is looked at anew after each escape.
  static uint64_t copy(const char* from, char* to) {
    static_assert(std::endian::native == std::endian::little);
    uint64_t v;
    std::memcpy(&v, from, sizeof v);
    std::memcpy(to, &v, sizeof v);
    constexpr uint64_t kOnes = 0x0101010101010101;
    const auto has_zero = [](uint64_t x) { return (x - kOnes) & ~x; };
    const uint64_t control = (v - kOnes * 0x20) & ~v;
    return (has_zero(v ^ kOnes * '"') | has_zero(v ^ kOnes * '\\') | control) & kOnes * 0x80;
  }
#endif
};

/// Reads up to 15 bytes beyond the string's end, and writes as many beyond the new end.
inline char* write_json_string(std::string_view s, char* out) {
  const char* in = s.data();
  size_t left = s.size();
  *out++ = '"';
  for (;;) {
    const uint64_t hits = Block::copy(in, out);
    const size_t here = left < Block::kSize ? left : Block::kSize;
    const size_t clean = hits == 0 ? here : static_cast<size_t>(std::countr_zero(hits)) / Block::kBitsPerByte;
    if (clean < here) {
      const Escape& escape = kEscapes[static_cast<unsigned char>(in[clean])];
      std::memcpy(out + clean, escape.text, sizeof escape.text);
      out += clean + escape.size;
      in += clean + 1;
      left -= clean + 1;
    } else {
      out += here;
      in += here;
      left -= here;
    }
    if (left == 0) break;
  }
  *out++ = '"';
  return out;
}

/// repr() of a finite float: the shortest digits that read back; an exponent from 1e16 and below
/// 1e-4.
inline char* write_python_float(double value, char* out) {
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const char* digit = text;
  if (*digit == '-') *out++ = *digit++;
  const char* e = digit + 1;
  while (*e != 'e') ++e;
  int exponent = 0;
  std::from_chars(e + (e[1] == '+' ? 2 : 1), end, exponent);
  if (exponent < -4 || exponent >= 16) {
    const auto size = static_cast<size_t>(end - digit);
    std::memcpy(out, digit, size);
    return out + size;
  }
  char digits[20];
  int count = 0;
  for (; digit != e; ++digit) {
    if (*digit != '.') digits[count++] = *digit;
  }
  if (exponent < 0) {
    std::memcpy(out, "0.000", 5);
    out += 1 - exponent;
  }
  for (int i = 0; i < count || i <= exponent; ++i) {
    *out++ = i < count ? digits[i] : '0';
    if (i == exponent) *out++ = '.';
  }
  if (out[-1] == '.') *out++ = '0';
  return out;
}

}  // namespace parlance::bench

#endif  // PARLANCE_BENCH_JSON_ESCAPE_H_
