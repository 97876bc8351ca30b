// Answers of APIs from the answers of engines, as vLLM's /derender makes them: one function for each API, whole and in
// pieces. `body` is the request, `name` the model's in the answer. All fail with conversation.
#pragma once
#include <string>

#include "serve/models/model.h"

namespace parlance::serve {

Result<std::string> derender_whole_chat(const ServedModel& model, Value body, const std::string& name);
Result<std::string> derender_chat_chunk(const ServedModel& model, Value body, const std::string& name);
Result<std::string> derender_whole_completion(const ServedModel& model, Value body, const std::string& name);
Result<std::string> derender_completion_chunk(const ServedModel& model, Value body, const std::string& name);

}  // namespace parlance::serve
