// precompiled_charsmap: a double array (Darts) of the texts to replace, and the texts to replace
// them by.
//
// The library follows the array's links without looking whether they lead out of it, has room for
// 32 rules that begin each other, and takes a replacement as far as the next zero byte. So every
// state that a text can lead to is visited here once, before. Layout: normalizer.cc and darts.h of
// SentencePiece. Begin reading at fault_of_charsmap.
#include <algorithm>
#include <vector>

#include "base/utf8.h"
#include "tokenizers/sentencepiece_proto.h"

namespace parlance {
namespace {

constexpr unsigned kMaxRules = 32;            // along one text
constexpr unsigned kMaxKey = 256;             // bytes of a text to replace
constexpr std::size_t kMaxReplacement = 256;  // else a short text becomes one that fills memory

class Charsmap {
 public:
  Charsmap(std::string_view array, std::string_view texts)
      : array_(array), texts_(texts), states_(array.size() / 4) {}

  /// The most rules that one text can meet from the state whose links begin at `base`; kFault if
  /// some text leads out.
  unsigned rules_from(std::uint32_t base, unsigned depth);
  static constexpr unsigned kFault = 1000;

  bool has(std::uint32_t index) const { return index < states_.size(); }
  std::uint32_t base_of(std::uint32_t index) const {
    const std::uint32_t unit = at(index);
    return index ^ ((unit >> 10) << ((unit & (1U << 9)) >> 6));
  }

 private:
  std::uint32_t at(std::uint32_t index) const {
    const char* bytes = array_.data() + std::size_t{index} * 4;
    std::uint32_t unit = 0;
    for (int i = 3; i >= 0; --i) unit = unit << 8 | static_cast<std::uint8_t>(bytes[i]);
    return unit;
  }
  bool leads_here(std::uint32_t index, std::uint8_t byte) const {
    return (at(index) & 0x800000FFU) == byte;
  }
  bool has_rule(std::uint32_t index) const { return (at(index) >> 8 & 1) != 0; }
  bool rule_is_good(std::uint32_t index) const;
  unsigned rules_through(std::uint32_t index, unsigned depth);

  std::string_view array_;
  std::string_view texts_;
  enum : std::uint8_t { kNew = 0, kOpen = 1, kDone = 2 };
  struct State {
    std::uint8_t progress = kNew;
    std::uint8_t rules = 0;
  };
  std::vector<State> states_;  ///< by where their links begin
};

/// The leaf at `index` has the place of a replacement.
bool Charsmap::rule_is_good(std::uint32_t index) const {
  if (!has(index)) return false;
  const std::uint32_t place = at(index) & 0x7FFFFFFFU;
  if (place >= texts_.size()) return false;
  const std::string_view from = texts_.substr(place, kMaxReplacement + 1);
  const std::size_t size = from.find('\0');
  return size != std::string_view::npos && utf8::is_valid(from.substr(0, size), false);
}

/// The same through the state at `index`, that a byte leads to.
unsigned Charsmap::rules_through(std::uint32_t index, unsigned depth) {
  const std::uint32_t base = base_of(index);
  if (has_rule(index) && !rule_is_good(base)) return kFault;
  const unsigned more = rules_from(base, depth + 1);
  return more == kFault ? kFault : more + (has_rule(index) ? 1 : 0);
}

unsigned Charsmap::rules_from(std::uint32_t base, unsigned depth) {
  if (depth > kMaxKey || !has(base | 0xFFU)) return kFault;
  State& state = states_[base];
  if (state.progress == kDone) return state.rules;
  if (state.progress == kOpen) return kFault;
  state.progress = kOpen;
  unsigned most = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::uint32_t index = base ^ byte;
    if (leads_here(index, static_cast<std::uint8_t>(byte)))
      most = std::max(most, rules_through(index, depth));
    if (most > kMaxRules) return kFault;
  }
  state = {kDone, static_cast<std::uint8_t>(most)};
  return most;
}

}  // namespace

std::string_view fault_of_charsmap(std::string_view charsmap) {
  if (charsmap.empty()) return {};
  std::uint32_t size = 0;
  if (charsmap.size() <= sizeof size) return "is too short";
  for (int i = 3; i >= 0; --i)
    size = size << 8 | static_cast<std::uint8_t>(charsmap[static_cast<std::size_t>(i)]);
  charsmap.remove_prefix(sizeof size);
  if (size >= charsmap.size() || size % 4 != 0 || size == 0) return "is shorter than it says";
  Charsmap map(charsmap.substr(0, size), charsmap.substr(size));
  return map.rules_from(map.base_of(0), 0) == Charsmap::kFault ? "is damaged" : "";
}

}  // namespace parlance
