// Keys of a JSON object: of equal ones the last value counts, at the first one's place.
//
// Source: CPython 3.11 json/decoder.py (JSONObject makes a dict of the pairs in order). Begin reading at settle_keys.
#pragma once
#include <cstdint>

#include "base/arena.h"
#include "value/dict.h"

namespace parlance {

/// One of 64 bits for a key: equal keys have equal bits, and different ones seldom do.
inline std::uint64_t key_bit(const Value& key) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(key.data);
  const std::uint32_t n = key.size;
  const std::uint32_t ends = n == 0 ? 0 : bytes[0] + 7u * bytes[n - 1];
  return std::uint64_t{1} << ((ends + 11 * n) & 63);
}

/// Makes the last of equal keys win at the first one's place, in a dict whose entries are all set,
/// and puts an index over a large one. `dict.capacity` stays what it is: behind the entries that are left stand those
/// whose key was there already (repeats.h reads them). True if there are such.
bool settle_keys(Arena& arena, DictObject& dict);

}  // namespace parlance
