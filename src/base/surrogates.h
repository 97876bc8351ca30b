// The error of a prompt that no UTF-8 can have.
#pragma once
#include "parlance/error.h"

namespace parlance {

/// Of a prompt with half a surrogate pair, which a request's JSON can write.
inline Error lone_surrogate() {
  return Error(ErrorCode::unicode_encode, "'utf-8' codec can't encode the prompt: surrogates not allowed")
      .hint("the input has \\ud800-like escapes without a partner");
}

}  // namespace parlance
