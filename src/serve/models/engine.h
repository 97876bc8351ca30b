// The engine of a served model: whether it is the right one, and whether a request may be sent to it.
#pragma once
#include <string>
#include <vector>

#include "serve/models/model.h"

namespace parlance::serve {

/// Was the request refused for what it asks, or since too many wait? Then the engine did not fail.
bool is_refusal(const EngineFailure& failure);

/// Asks the engine what it is, and compares its tokenizer with the model's. Returns what there is to warn of.
/// Throws EngineFailure; of kind other if its ids differ, with the ids.
Task<std::vector<std::string>> check_engine(const ServedModel& model);

/// The same unless it was done, without the warnings. Only then is it known whether the engine takes ids.
Task<> check_engine_once(const ServedModel& model);

/// Backend::generate, where the engine was checked and has a slot for it. Throws EngineFailure; of kind unfit, before
/// anything is sent, if the prompt is larger than the engine's context or limits, or is text in which content would
/// become a control token. Whether it is text is decided once the engine has a slot, and holds up to the reply's end.
Task<GenerationEnd> generate(const ServedModel& model, const Generation& generation, const TokenSink& sink);

}  // namespace parlance::serve
