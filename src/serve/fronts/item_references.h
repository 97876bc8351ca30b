// Items of the Responses API that a request names by their ids, as they were given in an answer.
#pragma once
#include <optional>
#include <string>

#include "parlance/result.h"
#include "parlance/value.h"
#include "serve/stored_responses.h"

namespace parlance::serve {

/// The request with the items themselves in place of each `item_reference` of its `input`, as JSON; unset where it has
/// none. An item is looked for in the answer whose id is part of its own. Error: no such answer is kept for this
/// client, the request names an item twice, or its items are together larger than `most` bytes.
Result<std::optional<std::string>> with_referenced_items(Value body, const StoredResponses& responses,
                                                         std::string_view owner, std::size_t most);

}  // namespace parlance::serve
