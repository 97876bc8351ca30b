// What a request may have wrong where a template fails over it.
#pragma once
#include <string>

#include "parlance/conversation.h"

namespace parlance {

/// For a request of another API that nobody converted, so that there are no messages; "" for others.
std::string hint_of_other_api(const Conversation& conversation);

/// The first thing in the messages that chats do not have: content of another form, a call whose arguments have another
/// name. For the hint of an error; "" for nothing.
std::string hint_of_request(const Conversation& conversation);

/// What may be meant by JSON that is no request: a list of messages, or one message alone; "" for anything else.
std::string hint_of_no_request(Value root);

/// What may be meant by an object without messages: a row of data for training, an answer of a command; "" for anything
/// else.
std::string hint_of_row(Value row);

}  // namespace parlance
