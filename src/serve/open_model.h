// Opens models with their engines.
#pragma once
#include <memory>

#include "serve/models/model.h"
#include "serve/serve.h"

namespace parlance::serve {

/// Fails with usage (the engine's address), and as complete() does. With `capture` it has a record for captures.
Result<std::shared_ptr<ServedModel>> open_served_model(ModelOptions&& options, const ServeOptions& server);

}  // namespace parlance::serve
