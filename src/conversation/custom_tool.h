// Custom tools of OpenAI's APIs, which take a text and no JSON. Templates, grammars and readers know them as functions
// of one text.
//
//     {"type": "custom", "custom": {"name": N, "description": D, "format": F}}    chat completions
//     {"type": "custom", "name": N, "description": D, "format": F}                responses
//
// F is {"type": "text"}, or {"type": "grammar", …} with "syntax" ("regex" or "lark") and "definition", there or in
// "grammar". Begin reading at function_of_custom.
#pragma once
#include <string_view>

#include "value/runtime.h"

namespace parlance {

/// The argument of the function.
inline constexpr std::string_view kCustomInput = "input";

/// What a custom tool, or a call of one, says of itself: the dict with its name. Undefined where the value is none.
Value inside_custom(Value tool);

/// {"name", "description", "parameters"} of a custom tool, and what else it says; undefined where the value is none, or
/// has no name. A regular expression is the text's `pattern`, another grammar its `description`. The values live as
/// long as the tool's, and as the arena.
Value function_of_custom(Runtime& rt, Value tool);

/// Whether a custom tool has a grammar that no `pattern` of its function says.
bool has_grammar_beyond_pattern(Value tool, Value function);

}  // namespace parlance
