// Mixing bits for hash tables, keyed so that nobody can prepare keys that meet in one slot.
//
// The key is an address, which the system draws anew for each process; hashes are never shown and
// tables keep the order of insertion, so that no output depends on it. Begin reading at fold.
#pragma once

#include <cstdint>

namespace parlance {

/// Both halves of the product, which every bit of both factors reaches.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
#ifdef __SIZEOF_INT128__
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
  // Of four products of half words: low, and the two in the middle with what low carries.
  const std::uint64_t low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF), across = (a >> 32) * (b & 0xFFFFFFFF);
  const std::uint64_t middle = (a & 0xFFFFFFFF) * (b >> 32) + (low >> 32) + (across & 0xFFFFFFFF);
  return ((middle << 32) | (low & 0xFFFFFFFF)) ^ ((a >> 32) * (b >> 32) + (across >> 32) + (middle >> 32));
#endif
}

inline std::uint64_t hash_key() {
  static const char anchor = 0;
  return reinterpret_cast<std::uintptr_t>(&anchor) * 0x9E3779B97F4A7C15u;
}

/// One more word into a hash.
inline std::uint64_t hash_word(std::uint64_t hash, std::uint64_t word) {
  const std::uint64_t key = hash_key();
  return fold(hash ^ word ^ key, (key >> 7) ^ 0xD6E8FEB86659FD93u);
}

}  // namespace parlance
