// What an engine that takes text alone makes of it: whether it puts a token in front of each by itself.
#pragma once
#include <string>

#include "serve/models/model.h"

namespace parlance::serve {

/// Sets `info.first` where the engine has not told it: by how many tokens it counts in a text with the model's first
/// token, and without. Returns what there is to warn of; "": nothing. Throws EngineFailure where it does not answer.
Task<std::string> find_first_token(const ServedModel& model, EngineInfo& info);

}  // namespace parlance::serve
