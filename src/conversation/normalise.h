// Normalisation: a chat request as clients send it, into the variables that chat templates expect.
//
// An ordered table of named passes, each one function that can be switched off; see kPasses in normalise.cpp. The order
// is part of their meaning: requests of other APIs become chats first, calls get their usual form before their
// arguments are read, and null members go before anything looks at members.
#pragma once
#include <string>

#include "conversation/conversation.h"

namespace parlance {

/// Runs the passes that `options` asks for over state.variables.
/// Fails with conversation when `messages` is missing or not a list of objects.
Result<void> normalise(ConversationState& state, const ReadOptions& options);

/// Does a member of a request say nothing: is it missing, null, an empty list or text?
bool says_nothing(Value given);

/// Has it a prompt with a suffix (Ollama's /api/generate), between which something is to be filled in?
bool has_gap(Value request);
/// Does it ask for that alone, and not for a message?
bool fills_gap(Value request);

/// Notes that a variable which is about to be set from outside the request stands in for what the request says: its
/// messages, tools or documents.
void note_replaced(ConversationState& state, std::string_view variable, std::string_view json);

/// The error of a request that is no conversation.
Error not_a_conversation(std::string message, std::string path);
/// The error without a hint that names an option of how a request is read, for what has no such options.
Error without_reading_options(const Error& error);

/// "messages[3].content: null is now empty text (null-content)".
std::string note_of(const ConversationState& state, const Change& change);
/// The place that a change is at in the request: "messages[3].content".
std::string place_of(const ConversationState& state, const Change& change);

}  // namespace parlance
