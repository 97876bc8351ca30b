// Threads of Anthropic's Messages: conversations that the server keeps, of which a request has only what is new.
#pragma once
#include <string>

#include "parlance/result.h"
#include "serve/models/model.h"

namespace parlance::serve {

/// The message that a request's `thread` goes on from; "": none.
std::string thread_of(Value body);
/// Fails with conversation where a request asks for what no thread here is, and, where it goes on from a message, gives
/// what a thread has from the request that began it.
Result<void> check_thread(const ServedModel& model, Value body);
/// A request of a route that keeps nothing. Fails with conversation where it goes on from a message.
Result<void> refuse_thread(Value body);

}  // namespace parlance::serve
