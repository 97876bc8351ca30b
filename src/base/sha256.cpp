// SHA-256 as FIPS 180-4 has it: blocks of 64 bytes, 64 rounds each. Begin reading at sha256.
#include "base/sha256.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define PARLANCE_SHA_INSTRUCTIONS 1
#include <cpuid.h>
#include <immintrin.h>
#else
#define PARLANCE_SHA_INSTRUCTIONS 0
#endif

namespace parlance {
namespace {

using Words = std::array<std::uint32_t, 8>;

constexpr std::size_t kBlock = 64;

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
constexpr Words kFirst = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// The same of the cube roots of the first 64 primes.
constexpr std::uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t word_at(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

void add_block(Words& state, const unsigned char* block) {
  std::uint32_t w[64];
  for (std::size_t i = 0; i < 16; ++i) w[i] = word_at(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t one =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
    const std::uint32_t two = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one;
    d = c, c = b, b = a, a = one + two;
  }
  const Words added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

void add_blocks_plainly(Words& state, const unsigned char* blocks, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) add_block(state, blocks + i * kBlock);
}

#if PARLANCE_SHA_INSTRUCTIONS

/// Does the processor have instructions for SHA-256? They take a tenth of the time.
bool has_sha_instructions() {
  constexpr unsigned kSha = 1U << 29, kSse41 = 1U << 19, kSsse3 = 1U << 9;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & kSha) == 0) return false;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kSse41) != 0 && (c & kSsse3) != 0;
}

/// The instructions want the words a, b, e, f in one register and c, d, g, h in the other, from the highest down, and
/// do two rounds each.
__attribute__((target("sha,sse4.1,ssse3"))) void add_blocks_by_instructions(Words& state, const unsigned char* blocks,
                                                                            std::size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto at = [](int one, int two, int three, int four) { return _mm_set_epi32(one, two, three, four); };
  const auto word = [&state](std::size_t i) { return static_cast<int>(state[i]); };
  __m128i abef = at(word(0), word(1), word(4), word(5)), cdgh = at(word(2), word(3), word(6), word(7));
  for (; count > 0; --count, blocks += kBlock) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (std::size_t i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks + 16 * i)), big_endian);
    for (std::size_t group = 0; group < 16; ++group) {
      __m128i& now = w[group % 4];
      if (group >= 4) {  // the words of 16, 15, 7 and 2 rounds before
        const __m128i one = w[(group + 1) % 4], two = w[(group + 2) % 4], three = w[(group + 3) % 4];
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(now, one), _mm_alignr_epi8(three, two, 4));
        now = _mm_sha256msg2_epu32(sum, three);
      }
      const __m128i rounds = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kRounds + 4 * group));
      const __m128i four = _mm_add_epi32(now, rounds);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, four);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(four, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  alignas(16) std::uint32_t high[4], low[4];
  _mm_store_si128(reinterpret_cast<__m128i*>(high), abef);
  _mm_store_si128(reinterpret_cast<__m128i*>(low), cdgh);
  state = {high[3], high[2], low[3], low[2], high[1], high[0], low[1], low[0]};
}

void add_blocks(Words& state, const unsigned char* blocks, std::size_t count) {
  static const bool instructions = has_sha_instructions();
  instructions ? add_blocks_by_instructions(state, blocks, count) : add_blocks_plainly(state, blocks, count);
}

#else

void add_blocks(Words& state, const unsigned char* blocks, std::size_t count) {
  add_blocks_plainly(state, blocks, count);
}

#endif
#undef PARLANCE_SHA_INSTRUCTIONS

/// What is left of the text, a one bit, zeros, and the length in bits: one block or two.
void add_end(Words& state, std::string_view rest, std::uint64_t all_bytes) {
  unsigned char last[2 * kBlock] = {};
  if (!rest.empty()) std::memcpy(last, rest.data(), rest.size());
  last[rest.size()] = 0x80;
  const std::size_t size = rest.size() + 9 <= kBlock ? kBlock : 2 * kBlock;
  for (std::size_t i = 0; i < 8; ++i) last[size - 1 - i] = static_cast<unsigned char>(all_bytes * 8 >> (8 * i));
  add_blocks(state, last, size / kBlock);
}

}  // namespace

std::string sha256(std::string_view bytes) {
  Words state = kFirst;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::size_t whole = bytes.size() / kBlock * kBlock;
  add_blocks(state, data, whole / kBlock);
  add_end(state, bytes.substr(whole), bytes.size());
  std::string hex(2 * sizeof state, '\0');
  char* out = hex.data();
  for (const std::uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) *out++ = "0123456789abcdef"[word >> shift & 15];
  }
  return hex;
}

}  // namespace parlance
