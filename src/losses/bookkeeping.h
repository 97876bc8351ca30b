// What a member that nobody reads means: is it kept for the client or the server, or should the model know of it?
//
// A member of a message, a call or a part whose name no table knows, and that has words, belongs into the prompt. So
// the tables here name what may be missing, and not what may not.
#pragma once
#include <string_view>

#include "value/runtime.h"

namespace parlance {

/// Is it the name of a member that says nothing to a model: an id, a time, what a server says of its reply?
bool is_bookkeeping(std::string_view name);
/// The same for a member of a request: what steers the server or the sampler, and columns of a row of data.
bool is_bookkeeping_of_request(std::string_view name);

/// Does it say something in words: a text, or an object? Numbers and booleans by themselves are settings or counts.
bool has_data(Value value);
/// Do both say the same words, bookkeeping aside, and nothing else?
bool says_the_same(Value value, Value other);

}  // namespace parlance
