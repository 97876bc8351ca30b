// Halves of surrogate pairs, which no UTF-8 can have: the error of a prompt with one, and how a reply is rid of them.
#pragma once
#include <string>
#include <string_view>

#include "parlance/error.h"

namespace parlance {

/// Of a prompt with half a surrogate pair, which a request's JSON can write.
inline Error lone_surrogate() {
  return Error(ErrorCode::unicode_encode, "'utf-8' codec can't encode the prompt: surrogates not allowed")
      .hint("the input has \\ud800-like escapes without a partner");
}

/// JSON with U+FFFD for what is no UTF-8 and for each escape of half a surrogate pair, so that whoever reads it gets
/// text. What a model wrote becomes a message of the conversation so.
std::string repair_json(std::string_view json);

}  // namespace parlance
