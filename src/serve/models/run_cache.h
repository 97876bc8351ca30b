// RunCache: a tokenizer that remembers the ids of texts between control tokens, which many requests share: system
// prompts, tools, the turns so far.
#pragma once
#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "parlance/tokenizer.h"
#include "serve/models/text_search.h"

namespace parlance::serve {

/// Gives exactly the tokens of the tokenizer that it wraps. A control token ends the text before it and begins the
/// next, so each piece, from one control token to the next, is encoded by itself; a piece that is known costs its hash
/// and a comparison. Guarded encodings, of prompts that hold the text of control tokens, go to the tokenizer as they
/// are.
///
/// A control token that takes in white space before it, or that is found only in normalised text, cuts nothing.
/// Threads: any.
class RunCache final : public Tokenizer {
 public:
  /// Keeps at most about `bytes` of texts and tokens.
  RunCache(std::unique_ptr<Tokenizer> tokenizer, std::size_t bytes);

  Result<void> encode(std::string_view text, const std::vector<ByteSpan>* trusted,
                      std::vector<EncodedToken>& into) const override {
    std::vector<ByteSpan> dropped;
    return encode_and_find_dropped(text, trusted, into, dropped);
  }
  Result<void> encode_and_find_dropped(std::string_view text, const std::vector<ByteSpan>* trusted,
                                       std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const override;
  std::string token_text(TokenId id) const override {
    return texts_.empty() ? tokenizer_->token_text(id) : text_of(id);
  }

  /// About the memory that is used.
  std::size_t used() const;

 private:
  struct Encoded {
    std::vector<EncodedToken> tokens;
    std::vector<ByteSpan> dropped;
  };
  using Tokens = std::shared_ptr<const Encoded>;
  struct Mark {
    std::size_t bytes = 0;  ///< of its text
    TokenId id = -1;
    bool cuts = false;
  };
  struct Piece {
    std::size_t begin = 0;
    const Mark* mark = nullptr;  ///< the control token that it begins with; null: the text's begin
  };
  /// The newer half of what is known, and the older, which goes when the newer is full.
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string_view, std::pair<std::unique_ptr<std::string>, Tokens>> newer, older;
    std::size_t bytes = 0, older_bytes = 0;
  };

  void read_marks();
  std::string text_of(TokenId id) const;
  std::vector<Piece> pieces_of(std::string_view text) const;
  Result<Tokens> tokens_of(std::string_view piece, const Mark* mark) const;
  Tokens find(Shard& shard, std::string_view key) const;
  void make_room(Shard& shard, std::size_t bytes) const;
  void keep(Shard& shard, std::string_view key, Tokens tokens) const;

  static constexpr std::size_t kShards = 16;

  std::unique_ptr<Tokenizer> tokenizer_;
  std::size_t most_;  ///< bytes of half a shard
  std::vector<Mark> marks_;
  TextSearch search_;                              ///< for the text of each
  std::vector<std::string> texts_;                 ///< of the tokens by id, where these are known to be few
  mutable std::array<Shard, 2 * kShards> shards_;  ///< the second half: of texts' begins
};

}  // namespace parlance::serve
