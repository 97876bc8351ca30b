// What a front reads of a request's body besides its conversation.
#pragma once
#include <string>

#include "parlance/json.h"
#include "serve/gateway.h"

namespace parlance::serve {

/// The body as an object. Fails with json (place), conversation.
Result<Document> read_object(const std::string& body);
/// The model that the body names. Fails with no_template if it is not served.
Result<const ServedModel*> asked_model(const Gateway& gateway, Value body);
/// Is a member true?
bool is_true(Value value);

}  // namespace parlance::serve
