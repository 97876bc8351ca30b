// A line of a data set that is a conversation, for commands that look at its turns.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "parlance/bulk.h"
#include "parlance/json.h"
#include "parlance/request.h"

namespace parlance::cli {

/// The line as an object; its id becomes the answer's. Fails with json; conversation where it is something else.
/// Lifetime: the document's.
Result<Value> open_row(Document& document, const BulkLine& line, BulkAnswer& answer);

/// The row as a request: its members but `id` and those of `without`, and its first `count` messages.
std::string request_of_row(Value row, std::initializer_list<std::string_view> without,
                           std::size_t count = static_cast<std::size_t>(-1));

/// The row, read as a request. Its messages are those of the row, one for one, or it fails: with what the reader says;
/// with conversation where they are not in `messages`.
Result<ChatRequest> read_row(const RequestReader& reader, Value row);

/// The error without a hint that names an option of how requests are read, for commands that have none.
Error without_reading_options(const Error& error);

bool is_of_assistant(Value message);

/// A message that is to be learnt of: an assistant's, whose `weight` is not 0.
bool is_learnt_turn(Value message);

}  // namespace parlance::cli
