// EncodedPrompt: a prompt's tokens as its tokenizer gives them, with what tokenize() says of them.
#pragma once
#include <vector>

#include "parlance/tokens.h"
#include "tokens/tokenizer/control_ids.h"

namespace parlance {

struct EncodedPrompt {
  std::vector<EncodedToken> tokens;
  ControlIds control;
  PromptTokens told;  ///< but for its `tokens`
};

/// What tokenize() does, but for saying what each token is. Fails as tokenize() does.
Result<EncodedPrompt> encode_prompt(const Rendering& rendering, const Conversation& conversation,
                                    const Tokenizer& tokenizer, const TokenizeOptions& options);

}  // namespace parlance
