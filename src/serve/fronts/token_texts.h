// Texts of sampled tokens: what a client sees of them one by one, and of their logprobs.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/reply_api.h"
#include "serve/models/model.h"

namespace parlance::serve {

/// Gives the text of tokens in whole characters: bytes of one that is not whole wait for the next token.
class TokenTexts {
 public:
  TokenTexts(const Tokenizer& tokenizer, const ServedModel& model, bool skips_special)
      : tokenizer_(tokenizer), model_(model), skips_special_(skips_special) {}

  /// The characters that are whole with this token.
  std::string add(TokenId id);
  /// The bytes that still wait.
  std::string finish();
  /// The tokens whose bytes wait.
  const std::vector<TokenId>& waiting() const { return waiting_; }

 private:
  bool is_special(TokenId id) const;

  const Tokenizer& tokenizer_;
  const ServedModel& model_;
  bool skips_special_;
  std::string held_;
  std::vector<TokenId> waiting_;
};

/// Tells the writer of an answer the logprobs of sampled tokens, before their text. `named`: tokens are named by their
/// ids, as "token_id:17".
void tell_logprobs(ReplyApiWriter& writer, const Tokenizer& tokenizer, std::span<const SampledToken> tokens,
                   bool named);

/// The logprobs of an engine's answer, with texts for its ids.
///
///     field        effect
///     before       the tokens in front of these, of which the last may have half a character
///     alternatives as many of each token's alternatives are given; unset: all
struct LogprobTexts {
  const ServedModel& model;
  Value logprobs;  ///< {"content": [{"token_id", "logprob", "top_logprobs": […]}, …]}
  std::span<const TokenId> before{};
  std::optional<std::size_t> alternatives{};
};
/// As chat completions have them: {"content": […]}.
std::string chat_logprobs(const LogprobTexts& from);
/// As completions have them. `offset` is where the first token begins, in characters; it becomes the end of the last.
std::string completion_logprobs(const LogprobTexts& from, std::size_t& offset);

}  // namespace parlance::serve
