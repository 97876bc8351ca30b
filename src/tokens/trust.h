// TrustRule: which bytes of a prompt may be part of a control token. Begin reading at TrustRule::holds.
//
// The rule asks where bytes came from and never what they look like. Searching user text for known control tokens
// misses those that a template puts together from two pieces, and changes text that was harmless; the origin of each
// byte is known anyway.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conversation/conversation.h"
#include "parlance/conversation.h"
#include "parlance/render.h"
#include "parlance/tokens.h"
#include "tokens/trusted_path.h"

namespace parlance {

/// The rule of tokens.h for one conversation, which must outlive it. For one thread.
class TrustRule {
 public:
  TrustRule(const Conversation& conversation, const TokenizerFacts& facts, std::span<const TrustedPath> paths);

  /// Is the span, whose text is `bytes`, trusted?
  bool holds(const Span& span, std::string_view bytes) const;
  /// The trusted bytes of `text`, whose spans these are: sorted, disjoint, not touching; counted from `text`'s begin,
  /// which is byte `from` of the prompt.
  std::vector<ByteSpan> ranges(std::span<const Span> spans, std::string_view text, std::uint32_t from = 0) const;

 private:
  bool is_role(const Span& span, std::string_view bytes) const;
  std::string_view role_at(const char* address, std::int32_t message) const;
  void list_roles() const;
  bool is_special_token(const Span& span) const;
  bool is_named(const Span& span, std::string_view variable, std::string_view text) const;
  bool is_on_purpose(const Span& span) const;

  const Conversation& conversation_;
  const TokenizerFacts& facts_;
  std::span<const TrustedPath> paths_;
  mutable SpecialTokenTexts special_tokens_;
  mutable std::vector<std::string_view> roles_;  ///< standard ones among the messages' roles, by address,
  mutable bool has_roles_ = false;               ///< listed once a role is not its own message's
};

}  // namespace parlance
