// The ids of a request's prompt, without a session.
#pragma once
#include <string_view>
#include <vector>

#include "serve/models/model.h"

namespace parlance::serve {

/// Fails as RequestReader::read, RequestReader::render and tokenize() do.
Result<std::vector<TokenId>> prompt_ids(const ServedModel& model, std::string_view body);

}  // namespace parlance::serve
