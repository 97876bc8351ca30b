// Tokens as JSON: the members of a result.
#pragma once
#include <string>
#include <vector>

#include "parlance/session.h"
#include "parlance/tokens.h"

namespace parlance::cli {

/// `"ids": …, "tokens": …, "labels": …, "missing_before": …, "guarded": …, "notes": …`, without braces.
std::string tokens_as_members(const PromptTokens& tokens, const Conversation& conversation, const Tokenizer& tokenizer);
/// `[{"id", "text", "sources"}, …]`
std::string stops_as_json(const std::vector<StopToken>& stops);
/// `{"byte", "token", "before": {…}, "after": {…}, "changed_input", "sentence"}`
std::string difference_as_json(const PrefixDifference& difference);
/// `[1, 2, 3]`
std::string ids_as_json(const std::vector<TokenId>& ids);

}  // namespace parlance::cli
