// Encoding under the rule of tokens.h: the tokenizer's own way where that is safe, else the guarded one.
//
// Almost no prompt contains the text of a control token from outside. So the whole prompt is encoded as the tokenizer
// does it, which also keeps its ids to the letter, and only a prompt in which that went wrong pays for a second
// encoding.
#pragma once
#include <string_view>
#include <vector>

#include "parlance/tokenizer.h"

namespace parlance {

/// What came of it.
struct GuardedEncoding {
  std::vector<EncodedToken> tokens;
  std::vector<EncodedToken> forged;  ///< control tokens that untrusted bytes would have become, or had a part in
  /// control tokens of `tokens` that a mark behind the border of trust would have taken away
  std::vector<EncodedToken> undone;
  std::vector<ByteSpan> dropped;  ///< parts of the text that are in none of `tokens`, and should be
};

/// What the tokenizer makes of a text, control tokens recognised everywhere or in `trusted` only; appends to `dropped`
/// where the tokenizer may drop text.
Result<void> encode_whole(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>* trusted,
                          std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped);

/// Encodes `text` so that no control token stands for a byte outside of `trusted` (see Tokenizer::encode).
/// `plain_added`: added tokens that are not special may stand for any.
/// Fails with value, tokenizer, limit_memory.
Result<GuardedEncoding> encode_guarded(const Tokenizer& tokenizer, std::string_view text,
                                       const std::vector<ByteSpan>& trusted, bool plain_added = false);

}  // namespace parlance
