// precompiled_charsmap: a double array (Darts) of the texts to replace, and the texts to replace
// them by.
//
// A text is followed through the array without looking whether its links lead out of it, and a replacement is taken as
// far as the next zero byte. So every state that a text can lead to is visited once, before. States may be shared: what
// can follow one is kept with it. Layout: normalizer.cc and darts.h of SentencePiece. Begin reading at
// fault_of_charsmap; how it is used, CharsmapRules::longest says.
#include "tokenizers/sentencepiece_charsmap.h"

#include <algorithm>

#include "base/unicode.h"
#include "base/utf8.h"
#include "tokens/tokenizer/joints.h"

namespace parlance {
namespace {

constexpr unsigned kMaxRules = 32;  // along one text: SentencePiece has room for no more, and does not look
// bytes of a text to replace: each place of a prompt may be followed as far
constexpr unsigned kMaxKey = 256;
constexpr std::size_t kMaxReplacement = 256;  // else a short text becomes one that fills memory

/// The number of this place among those of four bytes, the lowest first.
std::uint32_t number_at(std::string_view bytes, std::size_t place) {
  std::uint32_t number = 0;
  for (std::size_t i = 4; i-- > 0;) number = number << 8 | static_cast<std::uint8_t>(bytes[place * 4 + i]);
  return number;
}

class Charsmap {
 public:
  Charsmap(std::string_view array, std::string_view texts) : array_(array), texts_(texts), states_(array.size() / 4) {}

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
  std::uint32_t at(std::uint32_t index) const { return number_at(array_, index); }
  bool leads_here(std::uint32_t index, std::uint8_t byte) const { return (at(index) & 0x800000FFU) == byte; }
  bool has_rule(std::uint32_t index) const { return (at(index) >> 8 & 1) != 0; }
  bool rule_is_good(std::uint32_t index) const;
  unsigned rules_through(std::uint32_t index, unsigned depth);

  std::string_view array_;
  std::string_view texts_;
  enum : std::uint8_t { kNew = 0, kOpen = 1, kDone = 2 };
  struct State {
    std::uint8_t progress = kNew;
    std::uint8_t rules = 0;
    std::uint16_t longest = 0;  ///< bytes that can be followed from here
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
  if (state.progress == kDone) return depth + state.longest > kMaxKey ? kFault : state.rules;
  if (state.progress == kOpen) return kFault;
  state.progress = kOpen;
  unsigned most = 0, longest = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::uint32_t index = base ^ byte;
    if (!leads_here(index, static_cast<std::uint8_t>(byte))) continue;
    most = std::max(most, rules_through(index, depth));
    if (most > kMaxRules) return kFault;
    longest = std::max(longest, states_[base_of(index)].longest + 1U);
  }
  state = {kDone, static_cast<std::uint8_t>(most), static_cast<std::uint16_t>(longest)};
  return most;
}

}  // namespace

std::string_view fault_of_charsmap(std::string_view charsmap) {
  if (charsmap.empty()) return {};
  if (charsmap.size() <= sizeof(std::uint32_t)) return "is too short";
  const std::uint32_t size = number_at(charsmap, 0);
  charsmap.remove_prefix(sizeof size);
  if (size >= charsmap.size() || size % 4 != 0 || size == 0) return "is shorter than it says";
  Charsmap map(charsmap.substr(0, size), charsmap.substr(size));
  return map.rules_from(map.base_of(0), 0) == Charsmap::kFault ? "is damaged" : "";
}

Error normalized_too_long(std::size_t size) {
  return Error(ErrorCode::limit_memory, "the vocabulary's normalisation makes more than " +
                                            std::to_string(most_normalized(size)) + " bytes of a run of " +
                                            std::to_string(size));
}

void note_taken(std::string_view text, std::size_t at, std::size_t size, std::string_view becomes,
                std::vector<ByteSpan>& dropped) {
  if (!becomes.empty() || size == 0) return;
  bool is_loss = false;
  for (std::size_t i = at; i < at + size;) {
    const utf8::Decoded c = utf8::decode(text.data() + i, text.data() + at + size);
    is_loss = is_loss || !(unicode::is_space(c.code_point) || is_mark(c.code_point));
    i += c.size;
  }
  const auto begin = static_cast<std::uint32_t>(at), end = static_cast<std::uint32_t>(at + size);
  if (is_loss) dropped.push_back({begin, end});
}

CharsmapRules::CharsmapRules(std::string_view charsmap) {
  if (charsmap.empty()) return;
  const std::size_t count = number_at(charsmap, 0) / 4;
  for (std::size_t i = 0; i < count; ++i) units_.push_back(number_at(charsmap, i + 1));
  texts_ = charsmap.substr((count + 1) * 4);
}

CharsmapRules::Match CharsmapRules::longest(std::string_view text) const {
  Match found;
  if (units_.empty()) return found;
  std::uint32_t index = links_of(0);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<std::uint8_t>(text[at]);
    index ^= byte;
    const std::uint32_t unit = units_[index];
    if ((unit & 0x800000FFU) != byte) break;
    index = links_of(index);
    if ((unit >> 8 & 1) != 0) found = {at + 1, texts_.c_str() + (units_[index] & 0x7FFFFFFFU)};
  }
  return found;
}

}  // namespace parlance
