// Errors in the words of the client that caused them: by the names that its request has.
#pragma once
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "parlance/value.h"

namespace parlance::serve {

/// The same error of this part of a request's path in place of that one, in its message too. `from` may be "": the part
/// is put before the path.
Error renamed(const Error& error, std::string_view from, std::string_view to);
/// A path that the library says, such as "response_format", as this request has it: "text.format.schema".
std::string own_path(Value body, std::string_view path);
/// The library reads the requests of all APIs as one, and calls their members by the names of chat completions. `body`:
/// the request. Its own names replace them.
Error in_words_of(Value body, const Error& error);

/// A hint as a client can follow it; "" where only who runs a command can.
std::string hint_for_client(std::string_view hint);

}  // namespace parlance::serve
