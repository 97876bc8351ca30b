// What a tool of a request has to be so that the model can call it.
#pragma once
#include "parlance/result.h"
#include "parlance/value.h"

namespace parlance::serve {

/// Fails for a member `tools` or `functions` with a tool that nobody could call, which the prompt and the grammar would
/// have without a word: one that is no object, a function without a name, parameters (`input_schema`) that are no
/// object, or of another type than "object". Tools that an API runs itself have their own members, and are not looked
/// at.
Result<void> check_tools_shape(Value body);

}  // namespace parlance::serve
