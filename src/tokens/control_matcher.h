// ControlMatcher: where added tokens stand in a text, for tokenizers that cannot look for them themselves.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "parlance/tokenizer.h"

namespace parlance {

/// An added token in a text.
struct ControlMatch {
  const AddedToken* token = nullptr;
  ByteSpan bytes;  ///< of its own text
  ByteSpan taken;  ///< the same with the white space it takes along
};

}  // namespace parlance
