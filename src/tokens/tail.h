// Tail: the end of a prompt as tokens, from the last control token that is known on. Text before a control token and
// text behind it are encoded apart from each other, so that nothing before it needs to be encoded again.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/session.h"
#include "render/prompt_pieces.h"
#include "tokens/tokenizer/control_ids.h"
#include "tokens/trusted_path.h"

namespace parlance {

/// A control token among those that are known; the begin of the prompt where there is none.
struct Anchor {
  std::size_t token = 0;   ///< its number
  std::uint32_t byte = 0;  ///< where it begins in the prompt
};

/// Some of the last tokens that are known, with their places: where no control token is near, encoding begins at the
/// first of them, and is taken where it falls in with the known ones well before they end.
using Landmarks = std::vector<Anchor>;

/// What was there before.
struct Known {
  std::span<const TokenId> ids;
  std::size_t sampled_from;  ///< number of the first that was sampled
  std::size_t text_size;     ///< bytes of the prompt that the others stand for
};

class Tail {
 public:
  /// Encodes the prompt from the anchor on.
  Result<void> encode(const PromptEnd& prompt, const Conversation& conversation, const Tokenizer& tokenizer,
                      const TokenizeOptions& options, std::span<const TrustedPath> trusted, Anchor anchor);

  /// By how many bytes the first token's text is more than the prompt's, because the tokenizer puts a blank in front.
  std::size_t dummy_prefix(const Tokenizer& tokenizer, const PromptEnd& prompt) const;

  /// Where what is known ends in the tail.
  struct Match {
    bool fits = false;
    bool canonical = true;       ///< the known ids are those of the tail
    std::size_t token = 0;       ///< number, in the tail, of the first token that is new
    std::size_t byte = 0;        ///< of the prompt: where it does not fit
    bool across_border = false;  ///< the texts fit, a token does not
  };
  /// By ids; where sampled ones are another spelling of the same text, by what they spell.
  Match match(const Known& known, const Tokenizer& tokenizer, const PromptEnd& prompt) const;

  /// By ids, for a tail that began at the first of these landmarks: its first tokens may be others than the known ones,
  /// since what stands before them was not seen.
  Match match_from_middle(const Known& known, const Landmarks& landmarks) const;
  /// The last tokens of the tail, of `total` tokens in all.
  Landmarks landmarks(std::size_t total) const;

  /// The prompt from a byte on, by the tokens that the tail has of it.
  std::vector<ReplyPiece> pieces_from(std::size_t byte, const PromptEnd& prompt, const Tokenizer& tokenizer) const;
  /// Leaves out what stands before a byte, behind `known` ids of which `last` is the last. Gives where encoding may
  /// begin later: at that last token if it is a control token, else at the byte. Nothing, and nothing is left out,
  /// where a token crosses the byte.
  std::optional<Anchor> begin_at(std::size_t byte, std::size_t known, TokenId last, const TokenizerFacts& facts);

  std::vector<TokenId> ids_from(std::size_t token) const;
  /// Sets what was kept from becoming control tokens from that byte of the prompt on: at most the last kMostGuarded,
  /// and how many there were.
  void add_guarded(std::size_t byte, Extension& made) const;
  /// What is new from that token on, and what of the prompt from that byte on the model cannot read, and what of it was
  /// kept from becoming control tokens; of each the first kMost….
  Extension extension(std::size_t token, std::size_t byte, bool canonical, const PromptEnd& prompt,
                      const Conversation& conversation, const Tokenizer& tokenizer) const;
  /// Where the text of that token begins, for who does not know how far the text of those before reaches. Text without
  /// a token before it counts as theirs; behind the last token, as new.
  std::size_t begin_of(std::size_t token) const;
  /// The same for the first of the last `count` tokens.
  std::size_t begin_of_last(std::size_t count) const {
    return begin_of(tokens_.size() - std::min(count, tokens_.size()));
  }
  /// The last control token among the `appended` last tokens, of which there are `total` now, that ends before a byte;
  /// `old` if there is none.
  Anchor last_anchor(const TokenizerFacts& facts, std::size_t total, std::size_t appended, std::size_t byte,
                     Anchor old) const;

 private:
  Result<void> encode_protected(const PromptEnd& prompt, const Conversation& conversation, const Tokenizer& tokenizer,
                                std::span<const TrustedPath> trusted, bool plain_added);
  std::optional<std::size_t> spell(std::string_view text, std::size_t token, const Tokenizer& tokenizer,
                                   const ControlIds& control) const;
  Match match_spelling(const Known& known, const Tokenizer& tokenizer, const PromptEnd& prompt) const;

  Anchor anchor_;
  std::vector<EncodedToken> tokens_;        ///< bytes count from the anchor
  std::vector<ByteSpan> dropped_;           ///< they do as well
  std::vector<GuardedText> guarded_;        ///< count from the prompt's begin
  std::vector<std::size_t> unlisted_ends_;  ///< where those before them end, from the prompt's begin too
};

// Texts that a session lists.
inline constexpr std::size_t kMostUnknown = 64, kMostGuarded = 1024;

/// Fails with usage where the tokenizer would be asked to put something behind a text that is to go on.
Result<void> check_extendable(const Tokenizer& tokenizer, const TokenizeOptions& options);
/// What tokens stand for, one after the other.
std::string texts_of(const Tokenizer& tokenizer, std::span<const TokenId> ids);

}  // namespace parlance
