// Merger: a word as tokens of a vocabulary, in the four ways that vocabularies are meant: byte-pair encoding, and one
// way without merges.
//
//                      which two neighbours become one first
//   merges             the pair that stands first in a list of pairs (GgufWay::merges)
//   ranks              the pair whose text has the lowest rank in the vocabulary (tiktoken, tekken)
//   scores             the pair whose text has the highest score in the vocabulary (GgufWay::scores)
// Of equals it is the leftmost pair.
//   longest            none: each time the longest token that fits (GgufWay::longest)
// Begin reading at Merger::merge.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parlance/tokenizer.h"
#include "tokenizers/piece_trie.h"

namespace parlance {

/// A part of a word and its token; -1 where the vocabulary has none for it.
struct MergedPiece {
  TokenId id = -1;
  std::uint32_t size = 0;  ///< in bytes
};

struct MergerParts {
  std::vector<std::string> texts;  ///< by id: bytes as a word has them; "" for a token that is never merged to
  /// By id, higher ones first: where pairs are ordered by what they become.
  std::vector<float> priorities;
  /// Where pairs are ordered by themselves; of a pair that stands there twice the first counts.
  std::vector<std::pair<std::string, std::string>> merges;
  bool by_pair = false;
  bool from_bytes = false;      ///< a word begins as single bytes; else as characters
  bool whole_words = false;     ///< a word that is a token by itself is that token, whatever the merges
  bool whole_newlines = false;  ///< the same for words of nothing but newlines
  bool takes_longest = false;   ///< nothing is merged
};

/// Threads: any number may merge() at once.
class Merger {
 public:
  Merger() = default;
  explicit Merger(MergerParts parts);
  Merger(Merger&&) = default;
  Merger& operator=(Merger&&) = default;
  Merger(const Merger&) = delete;
  Merger& operator=(const Merger&) = delete;

  /// The token of exactly these bytes, or -1.
  TokenId find(std::string_view text) const;
  /// Appends the pieces of a word, in order. With `hidden` (by id) these tokens are none of the vocabulary.
  /// Time: the word's length times its logarithm, times the longest token's.
  void merge(std::string_view word, const std::vector<bool>* hidden, std::vector<MergedPiece>& into) const;
  const std::string& text(TokenId id) const { return texts_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return size_; }

 private:
  struct Work;
  struct Merged {
    float priority = 0;
    std::int32_t symbol = -1;
  };
  std::int32_t symbol_of(std::string_view text) const;
  std::int32_t intern(const std::string& text);
  bool is_hidden(std::int32_t symbol, const std::vector<bool>* hidden) const;
  void offer(Work& work, std::int32_t left, std::int32_t right) const;
  void merge_all(Work& work) const;
  void take_longest(std::string_view word, const std::vector<bool>* hidden, std::vector<MergedPiece>& into) const;

  std::vector<std::string> texts_;  ///< of tokens by id, then of parts of merges that are no tokens
  std::size_t size_ = 0;            ///< number of tokens
  std::size_t longest_ = 0;
  std::vector<float> priorities_;
  bool by_pair_ = false, from_bytes_ = false, whole_words_ = false, whole_newlines_ = false, takes_longest_ = false;
  PieceTrie trie_;                                              ///< of the tokens, to take the longest
  std::unordered_map<std::string_view, std::int32_t> symbols_;  ///< views of texts_
  std::unordered_map<std::uint64_t, Merged> pairs_;             ///< by both symbols
};

}  // namespace parlance
