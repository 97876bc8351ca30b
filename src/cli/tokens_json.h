// Tokens as JSON: the members of a result.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "parlance/session.h"
#include "parlance/tokens.h"

namespace parlance::cli {

/// Called now and then while JSON is written: may take away what is there.
using Flush = std::function<void(std::string& text)>;

/// `"ids": …, "tokens": …, "labels": …, "missing_before": …, "guarded": …, "notes": …`, without braces.
void write_tokens(
    std::string& out, const PromptTokens& tokens, const Conversation& conversation, const Tokenizer& tokenizer,
    const Flush& flush = [](std::string&) {});
/// `"ids": …, "labels": …`, and `"notes": …` where trust was given.
void write_labels(std::string& out, const PromptTokens& tokens);
/// `[{"id", "text", "sources"}, …]`
std::string stops_as_json(const std::vector<StopToken>& stops);
/// `{"kind", "vocabulary", "notes"}`: what was found of the tokenizer.
std::string tokenizer_as_json(const TokenizerFacts& facts);
/// `{"byte", "token", "before": {…}, "after": {…}, "changed_input", "sentence"}`
std::string difference_as_json(const PrefixDifference& difference);
/// `[1, 2, 3]`
std::string ids_as_json(const std::vector<TokenId>& ids);

}  // namespace parlance::cli
