// Text of a prompt that the model cannot read, with the inputs that it is of.
#pragma once
#include <span>
#include <vector>

#include "parlance/tokens.h"

namespace parlance {

/// A stretch of a prompt as tokens; places count from its beginning.
struct EncodedText {
  std::string_view text;
  std::span<const EncodedToken> tokens;
  std::span<const ByteSpan> dropped;  ///< in order
};

/// Lists what became the unknown token, or none, in order; whole characters. Where a control token is written like the
/// unknown one, that is none. `most`: how many are listed.
std::vector<UnknownText> find_unknown(const EncodedText& encoded, const TokenizerFacts& facts,
                                      std::size_t most = SIZE_MAX);
/// Fills in their paths. The spans' places are those of the texts.
void find_paths(std::vector<UnknownText>& unknown, std::span<const Span> spans, const Conversation& conversation);

}  // namespace parlance
