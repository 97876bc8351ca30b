// Text of a prompt that was kept from becoming control tokens, with the inputs that it is of.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "parlance/tokens.h"
#include "tokens/trust.h"

namespace parlance {

/// Names what untrusted bytes would have become. Places count from the beginning of `text`, which the spans cover.
std::vector<GuardedText> name_guarded(std::span<const EncodedToken> forged, std::span<const Span> spans,
                                      std::string_view text, const Conversation& conversation, const TrustRule& rule);

}  // namespace parlance
