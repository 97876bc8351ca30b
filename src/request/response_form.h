// What a request says of the form of its answer, as an option of a grammar: `response_format` in the spellings of the
// APIs.
#pragma once
#include "parlance/grammar.h"
#include "parlance/value.h"

namespace parlance {

/// The form of the answer that a request asks for, in the words of OpenAI's chat completions and responses, Anthropic's
/// messages, Ollama, vLLM, SGLang or llama.cpp; any text where it asks for none.
/// Fails with conversation where it says something else there, with its path and what it may be, or asks for two forms.
Result<ResponseFormat> response_of(Value request);

}  // namespace parlance
