// Copying values that were written just now.
#pragma once
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "parlance/value.h"

namespace parlance {

/// to = from, where `from` was written just now. A value that is put together is written in two words of eight bytes,
/// and a processor that loads more at once waits until they have reached the cache: some four nanoseconds, where a
/// whole render has a few hundred. So it is loaded by words; and stored at once, for those who will load it.
inline void copy_fresh(Value& to, const Value& from) {
#if defined(__SSE2__)
  const auto* words = reinterpret_cast<const char*>(&from);
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(words));
  const __m128i high = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(words + 8));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&to), _mm_unpacklo_epi64(low, high));
#else
  std::uint64_t words[2];
  std::memcpy(words, &from, sizeof words);
#if defined(__GNUC__)
  __asm__("" : "+r"(words[0]), "+r"(words[1]));  // or the compiler makes one load of it
#endif
  std::memcpy(static_cast<void*>(&to), words, sizeof words);
#endif
}

}  // namespace parlance
