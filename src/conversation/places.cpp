// The ways from an address or an origin id back to the conversation's messages and paths.
//
// Tried in the order of how often they occur: the document, text that was added, text derived from
// either.
#include <algorithm>
#include <charconv>
#include <functional>

#include "base/bytes.h"
#include "conversation/conversation.h"
#include "value/dict.h"

namespace parlance {
namespace {

bool before(const char* a, const char* b) { return std::less<>()(a, b); }

bool covers(std::string_view text, const char* address) {
  return !before(address, text.data()) && before(address, text.data() + text.size());
}

/// The region outside the document that holds the address, or null.
const TextRegion* region_at(const ConversationState& state, const char* address) {
  if (state.by_address.empty()) return nullptr;
  auto next =
      std::upper_bound(state.by_address.begin(), state.by_address.end(), address,
                       [&](const char* a, std::uint32_t number) { return before(a, state.regions[number].begin); });
  if (next == state.by_address.begin()) return nullptr;
  const TextRegion& region = state.regions[*(next - 1)];
  return covers({region.begin, region.size}, address) ? &region : nullptr;
}

/// The region whose values have the id: one of those from its own to the next region's.
const TextRegion* region_of(const ConversationState& state, std::uint32_t origin) {
  if (state.regions.empty() || origin < state.regions.front().origin || origin >= state.next_origin) return nullptr;
  const auto after = std::upper_bound(state.regions.begin(), state.regions.end(), origin,
                                      [](std::uint32_t id, const TextRegion& r) { return id < r.origin; });
  return &*(after - 1);
}

/// A path among the variables as one of the request, whose messages may stand behind others: see put_before().
std::string in_request(std::string path, std::int32_t put_before) {
  constexpr std::string_view kMessages = "messages[";
  if (put_before == 0 || !path.starts_with(kMessages)) return path;
  const char* const begin = path.data() + kMessages.size();
  std::int32_t number = 0;
  const char* const end = std::from_chars(begin, path.data() + path.size(), number).ptr;
  const bool is_models = number < put_before;
  const std::string rest = path.substr(static_cast<std::size_t>(end - path.data()));
  return (is_models ? "model.messages[" : "messages[") + std::to_string(number - (is_models ? 0 : put_before)) + rest;
}

/// Where a value that was added stands: in its message, or among the variables.
template <typename Key>
std::string path_in_region(const ConversationState& state, const TextRegion& region, Key key) {
  const bool in_message = region.message >= 0 && state.messages.is_sequence() &&
                          static_cast<std::uint32_t>(region.message) < state.messages.list->size;
  PlaceInInput place;
  if (!in_message)
    return find_in_tree(state.variables, key, place) ? in_request(place.path, state.put_before) : std::string();
  const bool is_models = region.message < state.put_before;
  std::string path = is_models ? "model.messages[" : "messages[";
  path += std::to_string(region.message - (is_models ? 0 : state.put_before)) + "]";
  if (!find_in_tree(state.messages.list->items[region.message], key, place) || place.path.empty()) return path;
  return path + (place.path.front() == '[' ? "" : ".") + place.path;
}

}  // namespace

bool find_place(const ConversationState& state, const char* address, std::int32_t& message) {
  const DocumentStorage& document = inside_of(state.document);
  if (document.holds(address)) {
    message = document.number_of(address);
    return true;
  }
  if (const TextRegion* region = region_at(state, address)) {
    message = region->message;
    return true;
  }
  const Arena::Derived* derived = state.arena.find_sorted_derived(address);
  if (derived == nullptr) return false;
  return derived->source_data != nullptr ? find_place(state, derived->source_data, message)
                                         : find_place(state, derived->source_id, message);
}

bool find_place(const ConversationState& state, std::uint32_t origin, std::int32_t& message) {
  const DocumentStorage& document = inside_of(state.document);
  if (document.holds(origin)) {
    message = document.number_of(origin);
    return true;
  }
  const TextRegion* region = region_of(state, origin);
  if (region != nullptr) message = region->message;
  return region != nullptr;
}

std::string path_of_address(const ConversationState& state, const char* address) {
  PlaceInInput place;
  if (inside_of(state.document).find(address, place)) return place.path;
  if (const TextRegion* region = region_at(state, address)) return path_in_region(state, *region, address);
  const Arena::Derived* derived = state.arena.find_sorted_derived(address);
  if (derived == nullptr) return {};
  if (derived->source_data == nullptr) return path_of_id(state, derived->source_id);
  const char* source = derived->source_data;
  const TextRegion* region = region_at(state, source);
  return region == nullptr ? path_of_address(state, source) : path_in_region(state, *region, address);
}

std::string path_of_id(const ConversationState& state, std::uint32_t origin) {
  PlaceInInput place;
  if (inside_of(state.document).find(origin, place)) return place.path;
  const TextRegion* region = region_of(state, origin);
  if (region == nullptr) return {};
  return region->in_document ? path_of_address(state, region->begin) : path_in_region(state, *region, origin);
}

std::string path_of_value(const ConversationState& state, Value value) {
  if (!value.is_string()) return path_of_id(state, origin_of(value));
  std::string path;
  for_each_piece(value, [&](std::string_view piece) {
    if (path.empty()) path = path_of_address(state, piece.data());
  });
  return path;
}

bool SpecialTokenTexts::cover(const char* address) {
  constexpr std::string_view kSuffix = "_token";
  const auto by_begin = [](std::string_view a, std::string_view b) { return before(a.data(), b.data()); };
  if (!found_) {
    found_ = true;
    for (const DictEntry& entry : entries(state_.variables)) {
      const bool is_token =
          entry.value.is_leaf() && entry.key.size >= kSuffix.size() &&
          equal_bytes(entry.key.data + entry.key.size - kSuffix.size(), kSuffix.data(), kSuffix.size());
      if (is_token) by_address_.push_back(leaf_text(entry.value));
    }
    if (by_address_.size() > kFew) std::sort(by_address_.begin(), by_address_.end(), by_begin);
  }
  if (by_address_.size() <= kFew) {
    return std::any_of(by_address_.begin(), by_address_.end(),
                       [address](std::string_view text) { return covers(text, address); });
  }
  const auto after = std::upper_bound(by_address_.begin(), by_address_.end(), std::string_view(address, 0), by_begin);
  return after != by_address_.begin() && covers(*(after - 1), address);
}

}  // namespace parlance
