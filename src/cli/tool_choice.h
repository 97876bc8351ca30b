// What a request says of its tools, as options of a grammar: `tools`, `tool_choice` and `parallel_tool_calls`.
#pragma once
#include <string_view>

#include "parlance/grammar.h"
#include "parlance/value.h"

namespace parlance::cli {

/// A word for `choice`: auto, required (or any), none; another word is the name of a tool.
void choose_tool(GrammarOptions& options, std::string_view word);
/// The members of a request that concern calls, as the APIs write them: OpenAI's chat completions and responses, Anthropic's
/// messages. Fails with value where `tool_choice` is none of these, with its path and what it may be.
Result<void> take_tool_options(GrammarOptions& options, Value request);

}  // namespace parlance::cli
