// Items of the Responses API that a request names by their ids, as they were given in an answer.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "parlance/losses.h"
#include "parlance/result.h"
#include "parlance/value.h"
#include "serve/sessions/lookup.h"
#include "serve/stored/kept.h"
#include "serve/stored/stored_responses.h"

namespace parlance::serve {

/// Where the items of earlier answers are.
struct AnswersKept {
  Kept<StoredResponse> responses;
  const Sessions& sessions;  ///< turns that are kept, also by others
  std::shared_ptr<const ServedModel> model;
  std::string owner;
  std::size_t most = 0;  ///< bytes of all items that a request names
};

struct WholeInput {
  std::optional<std::string> json;  ///< of the request; unset: it names no items
  std::vector<Loss> losses;         ///< reasoning that is passed over
};

/// The request with the items themselves in place of each `item_reference` of its `input`. An item is looked for in the
/// answer whose id is part of its own. Reasoning that is not found is passed over: a reply does not depend on it.
/// Error: no such answer is kept for this client, the request names an item twice, or its items are too large. Throws
/// as Sessions do.
Result<WholeInput> with_referenced_items(Value body, const AnswersKept& kept);

}  // namespace parlance::serve
