// The ids of a request's prompt, without a session.
#pragma once
#include <string_view>
#include <vector>

#include "parlance/reply_api.h"
#include "serve/models/model.h"

namespace parlance::serve {

/// `text` is a request in this API, `body` its values. Fails as RequestReader::read, RequestReader::render and
/// tokenize() do.
Result<std::vector<TokenId>> prompt_ids(const ServedModel& model, std::string_view text, Value body, ReplyApi api);

}  // namespace parlance::serve
