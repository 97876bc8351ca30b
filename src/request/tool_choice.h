// What a request says of its tools, as options of a grammar: `tools`, `tool_choice` and `parallel_tool_calls`.
#pragma once
#include "parlance/request.h"
#include "parlance/value.h"

namespace parlance {

/// The members of a request that concern calls, as the APIs write them: OpenAI's chat completions and responses,
/// Anthropic's messages. Fails with conversation where `tool_choice` is none of these, with its path and what it may
/// be.
Result<void> take_tool_options(GrammarOptions& options, Value request);

}  // namespace parlance
