// What each token of a prompt is: where most of its bytes came from, and whether an assistant wrote it.
#pragma once
#include <vector>

#include "parlance/tokens.h"
#include "tokens/tokenizer/control_ids.h"

namespace parlance {

/// Fills `tokens`. One pass over spans, ranges and tokens, which are all in order.
void fill_tokens(const Rendering& rendering, const ControlIds& control, const std::vector<EncodedToken>& encoded,
                 PromptTokens& into);

}  // namespace parlance
