// What JSON text of a conversation gives twice.
#include "conversation/json_text.h"

#include <algorithm>
#include <charconv>

namespace parlance {

void note_repeated(ConversationState& state, Value value, const std::string& place) {
  for (RepeatedMember& one : repeated_members(value)) {
    const std::string_view joint = one.path.starts_with('[') ? "" : ".";
    state.repeated.push_back({std::string(place).append(joint).append(one.path), one.times});
  }
}

void forget_repeated(ConversationState& state, std::string_view variable) {
  std::erase_if(state.repeated, [variable](const RepeatedMember& one) {
    const std::string_view path = one.path;
    return path.starts_with(variable) && path.size() > variable.size() &&
           (path[variable.size()] == '.' || path[variable.size()] == '[');
  });
}

void forget_repeated_from(ConversationState& state, std::uint32_t message) {
  constexpr std::string_view kList = "messages[";
  std::erase_if(state.repeated, [kList, message](const RepeatedMember& one) {
    std::uint32_t number = 0;
    if (!one.path.starts_with(kList)) return false;
    const char* const begin = one.path.data() + kList.size();
    return std::from_chars(begin, one.path.data() + one.path.size(), number).ec == std::errc() && number >= message;
  });
}

std::vector<RepeatedMember> repeated_members_of(const ConversationState& state) {
  std::vector<RepeatedMember> all;
  const DocumentStorage& storage = inside_of(state.document);
  if (storage.repeats()) all = repeated_members(storage.root());
  all.insert(all.end(), state.repeated.begin(), state.repeated.end());
  return all;
}

}  // namespace parlance
