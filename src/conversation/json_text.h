// JSON text that somebody gave inside of a request or beside it: arguments of a call, a line of ShareGPT, a variable, a
// member of a message that is built. Begin reading at read_json_text.
//
// What such a text says twice in one object is told of it as of the request itself: repeated_members_of has both.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "conversation/conversation.h"
#include "json/read.h"
#include "json/repeats.h"

namespace parlance {

/// Remembers what `value`, which was just read, was given twice; `place`: where it stands.
void note_repeated(ConversationState& state, Value value, const std::string& place);
/// Forgets it of what stands below a variable, which gets another value.
void forget_repeated(ConversationState& state, std::string_view variable);
/// Forgets it of the messages from this number on, which are taken away.
void forget_repeated_from(ConversationState& state, std::uint32_t message);
/// Members that the request, or JSON text in it or beside it, gives twice in one object.
std::vector<RepeatedMember> repeated_members_of(const ConversationState& state);

/// read_json_into() for a text of the conversation. `place()`: where it stands, a std::string; asked for only where a
/// member is given twice.
template <typename Place>
Result<Value> read_json_text(ConversationState& state, Runtime& rt, Value text, std::uint32_t origin, Place place) {
  bool repeats = false;
  Result<Value> value = read_json_into(rt, text, origin, &repeats);
  if (repeats && value) note_repeated(state, *value, place());
  return value;
}

/// read_json_numbered() for a text of the conversation that has a region, the last one.
template <typename Place>
Result<Value> read_numbered_text(ConversationState& state, Runtime& rt, Value text, Place place) {
  bool repeats = false;
  Result<Value> value = read_json_numbered(rt, text, state.next_origin, &repeats);
  if (repeats && value) note_repeated(state, *value, place());
  return value;
}

/// Why such a text was not read, behind "it is": it is no JSON, or JSON beyond a limit as Python's reader has it.
inline std::string why_unread(const Error& error) {
  return (error.code() == ErrorCode::json ? "not JSON: " : "not read as JSON: ") + error.message();
}

}  // namespace parlance
