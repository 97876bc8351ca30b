// Errors of blocks in Anthropic's requests.
#pragma once
#include "parlance/error.h"
#include "parlance/value.h"

namespace parlance::serve {

/// Anthropic's errors have the type of a block behind its place, `messages[0].content[1].image`: clients know by that
/// what to leave out, and go on.
Error with_type_of_block(const Error& error, Value body);

}  // namespace parlance::serve
