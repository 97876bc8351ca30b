// A grammar that the client wrote for the whole reply, in place of a schema from which one is made here.
#pragma once
#include "serve/turn/turn.h"

namespace parlance::serve {

/// What a request has by the names of vLLM, llama.cpp and SGLang, in the engine's syntax; without text if it has none.
/// Fails with conversation where the reply would not be held to it: an answer without it is not safe to use.
/// check_alone() says whether the request asks for something else too.
Result<OwnGrammar> read_own_grammar(const ServedModel& model, Value body);
/// The same as `structured_outputs` of an engine that is vLLM, as JSON.
Result<OwnGrammar> own_structured_outputs(Value body);

}  // namespace parlance::serve
