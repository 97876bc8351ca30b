// Tail: matching what is known with a tokenization of the same text.
#include "tokens/tail.h"

#include <algorithm>

#include "tokens/difference.h"
#include "tokens/guard.h"
#include "tokens/trust.h"

namespace parlance {

std::string texts_of(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string text;
  for (TokenId id : ids) text += tokenizer.token_text(id);
  return text;
}

Result<void> Tail::encode(const Rendering& rendering, const Conversation& conversation, const Tokenizer& tokenizer,
                          bool protect, std::span<const TrustedPath> trusted, Anchor anchor) {
  anchor_ = anchor;
  tokens_.clear();
  const std::string_view text = rendering.text().substr(anchor.byte);
  if (!protect) return tokenizer.encode(text, nullptr, tokens_);
  std::span<const Span> spans = rendering.spans();
  const auto first = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.end <= anchor.byte; });
  spans = spans.subspan(static_cast<std::size_t>(first - spans.begin()));
  const TrustRule rule(conversation, tokenizer.facts(), trusted);
  Result<GuardedEncoding> encoding = encode_guarded(tokenizer, text, rule.ranges(spans, text, anchor.byte));
  if (!encoding) return encoding.error();
  tokens_ = std::move(encoding->tokens);
  return {};
}

Tail::Match Tail::match(const Known& known, const Tokenizer& tokenizer, std::string_view prompt) const {
  const std::span<const TokenId> old = known.ids.subspan(anchor_.token);
  const bool same = old.size() <= tokens_.size() &&
                    std::equal(old.begin(), old.end(), tokens_.begin(),
                               [](TokenId id, const EncodedToken& token) { return id == token.id; });
  if (same) return {.fits = true, .token = old.size()};
  return match_spelling(known, tokenizer, prompt);
}

/// What is known and the tail, by what their tokens spell. `unk` may stand for anything, so it fits nothing.
Tail::Match Tail::match_spelling(const Known& known, const Tokenizer& tokenizer, std::string_view prompt) const {
  const std::span<const TokenId> sampled = known.ids.subspan(known.sampled_from);
  const std::string_view rest = prompt.substr(known.text_size);
  Match match{.byte = known.text_size + common_text(rest, texts_of(tokenizer, sampled))};
  const std::optional<TokenId> unk = tokenizer.facts().unk;
  if (unk && std::find(sampled.begin(), sampled.end(), *unk) != sampled.end()) return match;
  const std::string spelt = texts_of(tokenizer, known.ids.subspan(anchor_.token));
  std::size_t at = 0;
  for (; match.token < tokens_.size() && at < spelt.size(); ++match.token) {
    const std::string text = tokenizer.token_text(tokens_[match.token].id);
    if (spelt.compare(at, text.size(), text) != 0) return match;
    at += text.size();
  }
  match.fits = at == spelt.size();
  match.canonical = false;
  return match;
}

std::vector<TokenId> Tail::ids_from(std::size_t token) const {
  std::vector<TokenId> ids;
  ids.reserve(tokens_.size() - token);
  for (std::size_t i = token; i < tokens_.size(); ++i) ids.push_back(tokens_[i].id);
  return ids;
}

Anchor Tail::last_anchor(std::size_t total, std::size_t appended, Anchor old) const {
  const std::size_t first = tokens_.size() - appended;
  for (std::size_t i = tokens_.size(); i-- > first;) {
    if (tokens_[i].added && tokens_[i].bytes.begin != tokens_[i].bytes.end) {
      return {total - (tokens_.size() - i), anchor_.byte + tokens_[i].bytes.begin};
    }
  }
  return old;
}

}  // namespace parlance
