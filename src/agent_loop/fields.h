// Messages that were read, for the loop, which weighs, shortens and answers what stands in fields.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "parlance/conversation.h"

namespace parlance {

/// Moves the texts, parts and calls that `members` have into the message's own fields. What the fields cannot say stays
/// a member: null, parts without a type, calls if the arguments of none are an object. Where those of some are, the
/// others are gone.
void move_to_fields(Message& message);
/// Takes calls that could not be moved out of the members. False: there are none.
bool drop_unreadable_calls(Message& message);
/// The calls without a result among the messages behind them: by ids, and where a result has none by its place.
std::vector<ToolCall> open_calls(const std::vector<ToolCall>& calls, std::span<const Message> behind);
/// What the message says in words.
std::string text_of(const Message& message);
/// The highest N of the calls that are named call_N; 0: there is none.
std::size_t highest_call_number(std::span<const Message> messages);

}  // namespace parlance
