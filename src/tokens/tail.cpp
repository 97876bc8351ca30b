// Tail: matching what is known with a tokenization of the same text.
#include "tokens/tail.h"

#include <algorithm>
#include <iterator>

#include "tokens/difference.h"
#include "tokens/guarded_text.h"
#include "tokens/tokenizer/control_ids.h"
#include "tokens/tokenizer/guard.h"
#include "tokens/trust.h"
#include "tokens/unencodable.h"
#include "tokens/unknown_text.h"

namespace parlance {

Result<void> check_ids(const Tokenizer& tokenizer, std::span<const TokenId> ids, std::size_t first) {
  const std::size_t size = tokenizer.facts().vocabulary_size;
  const auto found = std::find_if(ids.begin(), ids.end(), [size](TokenId id) {
    return id < 0 || (size != 0 && static_cast<std::size_t>(id) >= size);
  });
  if (found == ids.end()) return {};
  const std::size_t at = first + static_cast<std::size_t>(found - ids.begin());
  const std::string which = "token " + std::to_string(at) + " has the id " + std::to_string(*found);
  if (*found < 0) return Error(ErrorCode::conversation, which + ", and no id is negative");
  const std::string why = ", which is outside the tokenizer's vocabulary (" + std::to_string(size) + " tokens)";
  return Error(ErrorCode::conversation, which + why)
      .hint(
          "are they the ids of another tokenizer? An engine whose logits are padded may sample such an id, which "
          "means nothing: keep it from that, by a bias or the size of its vocabulary");
}

Result<void> check_extendable(const Tokenizer& tokenizer, const TokenizeOptions& options) {
  if (!options.add_special_tokens || tokenizer.facts().puts_after.empty()) return {};
  return Error(ErrorCode::usage,
               "this tokenizer adds tokens at the end of a text, so such a prompt cannot be extended");
}

std::string texts_of(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  std::string text;
  for (TokenId id : ids) text += tokenizer.token_text(id);
  return text;
}

Result<void> Tail::encode(const PromptEnd& prompt, const Conversation& conversation, const Tokenizer& tokenizer,
                          const TokenizeOptions& options, std::span<const TrustedPath> trusted, Anchor anchor) {
  anchor_ = anchor;
  tokens_.clear();
  dropped_.clear();
  guarded_.clear();
  unlisted_ends_.clear();
  Result<void> done = options.protect
                          ? encode_protected(prompt, conversation, tokenizer, trusted, options.plain_added)
                          : encode_whole(tokenizer, prompt.text_from(anchor.byte), nullptr, tokens_, dropped_);
  if (!done) return unencodable(done.error(), *prompt.rendering, anchor.byte - prompt.begin, conversation);
  // A control token within a run has no dummy prefix before it, unless the text begins with it.
  const auto first =
      std::find_if(tokens_.begin(), tokens_.end(), [](const EncodedToken& t) { return t.bytes.begin != t.bytes.end; });
  if (anchor.byte != 0) tokens_.erase(tokens_.begin(), first);
  return {};
}

Result<void> Tail::encode_protected(const PromptEnd& prompt, const Conversation& conversation,
                                    const Tokenizer& tokenizer, std::span<const TrustedPath> trusted,
                                    bool plain_added) {
  std::span<const Span> spans = prompt.rendering->spans();
  const std::string_view text = prompt.text_from(anchor_.byte);
  const auto from = static_cast<std::uint32_t>(anchor_.byte - prompt.begin);
  const auto first = std::partition_point(spans.begin(), spans.end(), [from](const Span& s) { return s.end <= from; });
  spans = spans.subspan(static_cast<std::size_t>(first - spans.begin()));
  const TrustRule rule(conversation, tokenizer.facts(), trusted);
  Result<GuardedEncoding> encoding = encode_guarded(tokenizer, text, rule.ranges(spans, text, from), plain_added);
  if (!encoding) return encoding.error();
  tokens_ = std::move(encoding->tokens);
  dropped_ = std::move(encoding->dropped);
  // Of many the last ones: what is new stands at the end.
  const std::size_t unlisted = encoding->forged.size() - std::min(encoding->forged.size(), kMostGuarded);
  const auto first_listed = encoding->forged.begin() + static_cast<std::ptrdiff_t>(unlisted);
  for (auto one = encoding->forged.begin(); one != first_listed; ++one)
    unlisted_ends_.push_back(anchor_.byte + one->bytes.end);
  encoding->forged.erase(encoding->forged.begin(), first_listed);
  for (EncodedToken& token : encoding->forged) token.bytes = {token.bytes.begin + from, token.bytes.end + from};
  guarded_ = name_guarded(encoding->forged, spans, prompt.rendering->text(), conversation, rule);
  const auto begin = static_cast<std::uint32_t>(prompt.begin);
  for (GuardedText& one : guarded_) one.bytes = {one.bytes.begin + begin, one.bytes.end + begin};
  return {};
}

Tail::Match Tail::match(const Known& known, const Tokenizer& tokenizer, const PromptEnd& prompt) const {
  const std::span<const TokenId> old = known.ids.subspan(anchor_.token);
  const bool same =
      old.size() <= tokens_.size() && std::equal(old.begin(), old.end(), tokens_.begin(),
                                                 [](TokenId id, const EncodedToken& token) { return id == token.id; });
  if (same) return {.fits = true, .token = old.size()};
  return match_spelling(known, tokenizer, prompt);
}

namespace {

/// Known tokens as the tail must have them: control tokens one by one, text whole.
struct Segment {
  TokenId control = -1;  ///< -1: text
  std::string text;
};

/// Nothing for an id that spells nothing, or anything.
std::optional<std::vector<Segment>> segments_of(std::span<const TokenId> ids, std::size_t sampled_from,
                                                const Tokenizer& tokenizer, const ControlIds& control) {
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool is_unk = tokenizer.facts().unk == ids[i];
    if (control.contains(ids[i]) && !is_unk) {
      segments.push_back({ids[i], {}});
      continue;
    }
    const std::string text = tokenizer.token_text(ids[i]);
    if (i >= sampled_from && (is_unk || text.empty())) return {};
    if (segments.empty() || segments.back().control >= 0) segments.emplace_back();
    segments.back().text += text;
  }
  return segments;
}

}  // namespace

namespace {

/// Where the token begins that byte `at` of what the tokens spell is in.
std::size_t begin_of_token(const Tokenizer& tokenizer, std::span<const TokenId> ids, std::size_t at) {
  std::size_t begin = 0;
  for (TokenId id : ids) {
    const std::size_t end = begin + tokenizer.token_text(id).size();
    if (at < end) return begin;
    begin = end;
  }
  return begin;
}

}  // namespace

/// How many tokens of the tail, from `token` on, spell the text; nothing if they do not.
std::optional<std::size_t> Tail::spell(std::string_view text, std::size_t token, const Tokenizer& tokenizer,
                                       const ControlIds& control) const {
  std::size_t at = 0;
  for (; token < tokens_.size() && at < text.size(); ++token) {
    if (control.is_control(tokens_[token])) return {};
    const std::string piece = tokenizer.token_text(tokens_[token].id);
    if (text.compare(at, piece.size(), piece) != 0) return {};
    at += piece.size();
  }
  return at == text.size() ? std::optional(token) : std::nullopt;
}

std::size_t Tail::dummy_prefix(const Tokenizer& tokenizer, const PromptEnd& prompt) const {
  const bool has_blank =
      anchor_.byte == 0 && !tokens_.empty() && tokenizer.token_text(tokens_.front().id).starts_with(' ');
  return has_blank && !prompt.text_from(0).starts_with(' ') ? 1 : 0;
}

/// What is known and the tail, by what their tokens spell; special tokens are the same only by id. Others that were
/// added, such as <tool_call>, count by their text: a model may spell them out, and its reply is read so. `unk` may
/// stand for anything, so it fits nothing.
Tail::Match Tail::match_spelling(const Known& known, const Tokenizer& tokenizer, const PromptEnd& prompt) const {
  const ControlIds control(tokenizer.facts(), true);
  const std::size_t dummy = known.sampled_from == 0 ? dummy_prefix(tokenizer, prompt) : 0;
  const std::string said = texts_of(tokenizer, known.ids.subspan(known.sampled_from)).erase(0, dummy);
  const std::size_t shared = common_text(prompt.text_from(known.text_size), said);
  const std::span<const TokenId> sampled = known.ids.subspan(known.sampled_from);
  const std::size_t begin = begin_of_token(tokenizer, sampled, shared + dummy);
  Match match{.byte = known.text_size + (begin - std::min(begin, dummy)), .across_border = shared == said.size()};
  const std::size_t sampled_from = known.sampled_from - std::min(known.sampled_from, anchor_.token);
  const auto segments = segments_of(known.ids.subspan(anchor_.token), sampled_from, tokenizer, control);
  if (!segments) return match;
  std::size_t token = 0;
  for (const Segment& segment : *segments) {
    if (segment.control >= 0) {
      const bool same =
          token < tokens_.size() && control.is_control(tokens_[token]) && tokens_[token].id == segment.control;
      if (!same) return match;
      ++token;
    } else if (const auto end = spell(segment.text, token, tokenizer, control)) {
      token = *end;
    } else {
      return match;
    }
  }
  return {.fits = true, .canonical = false, .token = token};
}

Tail::Match Tail::match_from_middle(const Known& known, const Landmarks& landmarks) const {
  constexpr std::size_t kLeastShared = 32;  // before what is new: what decides a token reaches no farther back
  const std::span<const TokenId> old = known.ids.subspan(anchor_.token);
  const std::size_t given = known.sampled_from - anchor_.token;
  std::size_t j = 0;
  // The first token may have a dummy prefix in it.
  for (std::size_t i = 1; i < landmarks.size() && i + kLeastShared <= given; ++i) {
    while (j < tokens_.size() && anchor_.byte + tokens_[j].bytes.begin < landmarks[i].byte) ++j;
    if (j == tokens_.size() || anchor_.byte + tokens_[j].bytes.begin != landmarks[i].byte) continue;
    const std::span<const TokenId> rest = old.subspan(i);
    const bool same = rest.size() <= tokens_.size() - j &&
                      std::equal(rest.begin(), rest.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(j),
                                 [](TokenId id, const EncodedToken& token) { return id == token.id; });
    if (same) return {.fits = true, .token = j + rest.size()};
  }
  return {};
}

Landmarks Tail::landmarks(std::size_t total) const {
  constexpr std::size_t kMost = 96;
  Landmarks found;
  for (std::size_t i = tokens_.size() - std::min(tokens_.size(), kMost); i < tokens_.size(); ++i) {
    found.push_back({total - (tokens_.size() - i), anchor_.byte + tokens_[i].bytes.begin});
  }
  return found;
}

std::vector<ReplyPiece> Tail::pieces_from(std::size_t byte, const PromptEnd& prompt, const Tokenizer& tokenizer) const {
  const ControlIds control(tokenizer.facts());
  const std::string_view text = prompt.text_from(byte);
  std::vector<ReplyPiece> pieces;
  std::size_t at = 0;
  for (const EncodedToken& token : tokens_) {
    const std::size_t begin = anchor_.byte + token.bytes.begin, end = anchor_.byte + token.bytes.end;
    if (end <= byte + at) continue;
    if (begin > byte + at) pieces.push_back({std::string(text.substr(at, begin - byte - at))});  // of no token
    at = std::max(begin, byte + at) - byte;
    pieces.push_back({std::string(text.substr(at, end - byte - at)), control.is_control(token)});
    at = end - byte;
  }
  return pieces;
}

namespace {

bool may_begin_at(const EncodedToken& token, const TokenizerFacts& facts) {
  return token.added && token.bytes.begin != token.bytes.end && begins_run(facts, token.id);
}

}  // namespace

std::optional<Anchor> Tail::begin_at(std::size_t byte, std::size_t known, TokenId last, const TokenizerFacts& facts) {
  const auto first = std::find_if(tokens_.begin(), tokens_.end(),
                                  [&](const EncodedToken& token) { return anchor_.byte + token.bytes.begin >= byte; });
  const EncodedToken* const before = first == tokens_.begin() ? nullptr : &*(first - 1);
  if (before != nullptr && anchor_.byte + before->bytes.end > byte) return std::nullopt;
  const bool is_control = before != nullptr && before->id == last && may_begin_at(*before, facts);
  const Anchor anchor = is_control ? Anchor{known - 1, anchor_.byte + before->bytes.begin}
                                   : Anchor{known, static_cast<std::uint32_t>(byte)};
  tokens_.erase(tokens_.begin(), first);
  return anchor;
}

std::vector<TokenId> Tail::ids_from(std::size_t token) const {
  std::vector<TokenId> ids;
  ids.reserve(tokens_.size() - token);
  for (std::size_t i = token; i < tokens_.size(); ++i) ids.push_back(tokens_[i].id);
  return ids;
}

std::size_t Tail::begin_of(std::size_t token) const {
  if (token < tokens_.size()) return anchor_.byte + tokens_[token].bytes.begin;
  return anchor_.byte + (tokens_.empty() ? 0 : tokens_.back().bytes.end);
}

void Tail::add_guarded(std::size_t byte, Extension& made) const {
  made.guarded.clear();
  const auto is_behind = [byte](const GuardedText& one) { return one.bytes.end > byte; };
  std::ranges::copy_if(guarded_, std::back_inserter(made.guarded), is_behind);
  const auto unlisted = std::ranges::count_if(unlisted_ends_, [byte](std::size_t end) { return end > byte; });
  made.guarded_count = made.guarded.size() + static_cast<std::uint64_t>(unlisted);
}

Extension Tail::extension(std::size_t token, std::size_t byte, bool canonical, const PromptEnd& prompt,
                          const Conversation& conversation, const Tokenizer& tokenizer) const {
  Extension made{ids_from(token), canonical, {}};
  const auto first =
      std::ranges::find_if(dropped_, [&](const ByteSpan& one) { return anchor_.byte + one.begin >= byte; });
  const EncodedText encoded{prompt.text_from(anchor_.byte), std::span(tokens_).subspan(token), {first, dropped_.end()}};
  made.unknown = find_unknown(encoded, tokenizer.facts(), kMostUnknown);
  const auto move_by = [&](std::size_t bytes) {  // modulo 2^32, so that it may be backwards
    for (UnknownText& one : made.unknown)
      one.bytes = {one.bytes.begin + static_cast<std::uint32_t>(bytes),
                   one.bytes.end + static_cast<std::uint32_t>(bytes)};
  };
  move_by(anchor_.byte - prompt.begin);
  find_paths(made.unknown, prompt.rendering->spans(), conversation);
  move_by(prompt.begin);
  add_guarded(byte, made);
  return made;
}

Anchor Tail::last_anchor(const TokenizerFacts& facts, std::size_t total, std::size_t appended, std::size_t byte,
                         Anchor old) const {
  const std::size_t first = tokens_.size() - appended;
  for (std::size_t i = tokens_.size(); i-- > first;) {
    if (anchor_.byte + tokens_[i].bytes.end <= byte && may_begin_at(tokens_[i], facts))
      return {total - (tokens_.size() - i), anchor_.byte + tokens_[i].bytes.begin};
  }
  return old;
}

}  // namespace parlance
