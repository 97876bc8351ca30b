// settle_keys: what becomes of a key that is given twice. Few keys are compared with each other, many are sorted.
#include "json/keys.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace parlance {
namespace {

bool keys_seem_to_differ(const DictObject& dict) {
  std::uint64_t seen = 0;
  for (std::uint32_t i = 0; i < dict.size; ++i) {
    const std::uint64_t bit = key_bit(dict.entries[i].key);
    if ((seen & bit) != 0) return false;
    seen |= bit;
  }
  return true;
}

std::string_view key_text(const DictEntry& entry) { return {entry.key.data, entry.key.size}; }

/// Moves each value of a repeated key to the key's first place, for few entries.
void merge_few(DictObject& dict) {
  std::uint32_t kept = 0, again = 0;
  std::array<DictEntry, kLinearDict> dropped;
  for (std::uint32_t i = 0; i < dict.size; ++i) {
    const DictEntry entry = dict.entries[i];
    std::uint32_t first = 0;
    while (first < kept && key_text(dict.entries[first]) != key_text(entry)) ++first;
    if (first < kept) {
      dict.entries[first].value = entry.value;
      dropped[again++] = entry;
    } else {
      dict.entries[kept++] = entry;
    }
  }
  std::copy_n(dropped.begin(), again, dict.entries + kept);
  dict.size = kept;
}

/// The same for many: entry numbers ordered by key, so that equal keys stand together.
void merge_many(DictObject& dict) {
  std::vector<std::uint32_t> order(dict.size);
  for (std::uint32_t i = 0; i < dict.size; ++i) order[i] = i;
  const DictEntry* const entries = dict.entries;
  std::sort(order.begin(), order.end(), [entries](std::uint32_t a, std::uint32_t b) {
    const int c = key_text(entries[a]).compare(key_text(entries[b]));
    return c != 0 ? c < 0 : a < b;
  });
  std::vector<bool> is_dropped(dict.size);
  for (std::uint32_t i = 0, first = 0; i < dict.size; ++i) {
    if (i == first) continue;
    if (key_text(entries[order[i]]) != key_text(entries[order[first]])) {
      first = i;
      continue;
    }
    dict.entries[order[first]].value = entries[order[i]].value;
    is_dropped[order[i]] = true;
  }
  std::vector<DictEntry> dropped;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < dict.size; ++i) {
    if (is_dropped[i]) {
      dropped.push_back(entries[i]);
    } else {
      dict.entries[kept++] = entries[i];
    }
  }
  std::copy(dropped.begin(), dropped.end(), dict.entries + kept);
  dict.size = kept;
}

bool index_finds_every_entry(const DictObject& dict) {
  for (std::uint32_t i = 0; i < dict.size; ++i) {
    if (find_key(dict, key_text(dict.entries[i])) != &dict.entries[i]) return false;
  }
  return true;
}

void settle_many_keys(Arena& arena, DictObject& dict) {
  build_index(arena, dict);
  if (index_finds_every_entry(dict)) return;
  merge_many(dict);
  dict.index = nullptr;
  if (dict.size > kLinearDict) build_index(arena, dict);
}

}  // namespace

bool settle_keys(Arena& arena, DictObject& dict) {
  if (dict.size > kLinearDict) {
    settle_many_keys(arena, dict);
  } else if (!keys_seem_to_differ(dict)) {
    merge_few(dict);
  }
  return dict.size != dict.capacity;
}

}  // namespace parlance
