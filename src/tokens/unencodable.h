// The error of a prompt that a tokenizer refuses.
#pragma once
#include <cstddef>

#include "parlance/tokens.h"

namespace parlance {

/// Of what stands behind `from` bytes: where it has half a surrogate pair, that is what is wrong, and the error has the
/// path of the input with it. Else `refused` as it is.
Error unencodable(const Error& refused, const Rendering& rendering, std::size_t from, const Conversation& conversation);

}  // namespace parlance
