// Guard: encode, look whether a control token stands for untrusted bytes, and only then encode again, guarded.
#include "tokens/guard.h"

#include <algorithm>

#include "tokens/control_ids.h"
#include "tokens/trusted.h"

namespace parlance {
namespace {

/// Tells forged tokens.
class Inspector {
 public:
  Inspector(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>& trusted)
      : facts_(tokenizer.facts()), text_(text), control_(facts_), trusted_(trusted) {
    for (const AddedToken& token : facts_.added) {
      if (token.id == facts_.unk) unk_texts_.push_back(token.text);
    }
  }

  /// Is it a control token for bytes that are not trusted?
  bool is_forged(const EncodedToken& token) const {
    return control_.contains(token.id) && !is_unknown_text(token) && !lies_in(token.bytes, trusted_);
  }

 private:
  /// The model says `unk` of any text that it does not know, but not of that token's own text.
  bool is_unknown_text(const EncodedToken& token) const {
    if (token.added || facts_.unk != token.id) return false;
    const std::string_view bytes = text_.substr(token.bytes.begin, token.bytes.end - token.bytes.begin);
    return std::none_of(unk_texts_.begin(), unk_texts_.end(),
                        [&](std::string_view text) { return bytes.find(text) != bytes.npos; });
  }

  const TokenizerFacts& facts_;
  std::string_view text_;
  ControlIds control_;
  std::vector<std::string_view> unk_texts_;
  const std::vector<ByteSpan>& trusted_;
};

std::vector<EncodedToken> forged_tokens(const Tokenizer& tokenizer, std::string_view text,
                                        const std::vector<ByteSpan>& trusted, const std::vector<EncodedToken>& tokens) {
  const Inspector inspector(tokenizer, text, trusted);
  std::vector<EncodedToken> forged;
  for (const EncodedToken& token : tokens) {
    if (inspector.is_forged(token)) forged.push_back(token);
  }
  return forged;
}

Error not_kept(const Tokenizer& tokenizer, const EncodedToken& forged) {
  Error::Parts parts;
  parts.code = ErrorCode::tokenizer;
  parts.message = "the tokenizer (" + tokenizer.facts().kind + ") makes control token " + std::to_string(forged.id) +
                  " of text that is not trusted, bytes " + std::to_string(forged.bytes.begin) + " to " +
                  std::to_string(forged.bytes.end) + " of the prompt";
  parts.hint = "it must encode text with control tokens switched off where it is asked to";
  return Error(std::move(parts));
}

}  // namespace

Result<GuardedEncoding> encode_guarded(const Tokenizer& tokenizer, std::string_view text,
                                       const std::vector<ByteSpan>& trusted) {
  GuardedEncoding encoding;
  encoding.tokens.reserve(text.size() / 3);
  if (Result<void> done = tokenizer.encode(text, nullptr, encoding.tokens); !done) return done.error();
  encoding.forged = forged_tokens(tokenizer, text, trusted, encoding.tokens);
  if (encoding.forged.empty()) return encoding;
  encoding.tokens.clear();
  if (Result<void> done = tokenizer.encode(text, &trusted, encoding.tokens); !done) return done.error();
  const std::vector<EncodedToken> still = forged_tokens(tokenizer, text, trusted, encoding.tokens);
  if (!still.empty()) return not_kept(tokenizer, still.front());
  return encoding;
}

}  // namespace parlance
