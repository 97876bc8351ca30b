// The vocabulary of a SentencePiece model as parlance sees it: texts of tokens, added and control
// tokens.
#pragma once
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "parlance/tokenizer.h"
#include "tokenizers/sentencepiece_proto.h"

namespace parlance {

class SpVocabulary {
 public:
  /// Pieces, then `special_tokens` from the last piece on, then `added` (of files beside the model)
  /// by their own ids; what is added over a piece must have its text. An added token without an id
  /// (-1) is looked up among the pieces. Writes what a model says into `facts`. Fails with
  /// tokenizer (a special token without text).
  Result<void> fill(const SpModel& model, const std::vector<std::string>& special_tokens,
                    std::span<const AddedToken> added, TokenizerFacts& facts);

  std::string text(TokenId id) const;
  std::size_t pieces() const { return texts_.size(); }
  bool is_byte(TokenId id) const { return type(id) == SpType::byte; }
  /// A user-defined piece that no file adds: the model finds it by itself, wherever it stands.
  bool is_symbol(TokenId id) const { return id >= 0 && std::size_t(id) < symbol_.size() && symbol_[std::size_t(id)]; }
  /// Ordinary pieces written <|…|>, which the model finds by itself too: a template that writes one means a control
  /// token, though nobody added it.
  const std::vector<AddedToken>& markers() const { return markers_; }
  /// Must it come of trusted bytes only?
  bool is_control(TokenId id) const { return id >= 0 && std::size_t(id) < hidden_.size() && hidden_[std::size_t(id)]; }
  /// Could the model make a control token of text that it is given?
  bool may_be_forged(SpAlgorithm algorithm) const;
  /// is_control by id, for SpChanges.
  const std::vector<bool>& control() const { return hidden_; }

 private:
  SpType type(TokenId id) const {
    return id >= 0 && std::size_t(id) < types_.size() ? types_[std::size_t(id)] : SpType::unused;
  }
  using AddedById = std::map<TokenId, AddedToken>;
  void add_pieces(const SpModel& model, AddedById& all, TokenizerFacts& facts);
  void add(const AddedToken& token, AddedById& all, TokenizerFacts& facts);
  void find_markers(const AddedById& all, TokenizerFacts& facts);

  std::vector<std::string> texts_;
  std::vector<SpType> types_;
  std::vector<bool> hidden_, symbol_;
  std::vector<AddedToken> markers_;
  std::unordered_map<TokenId, std::string> beyond_;  ///< texts of tokens that are no pieces
};

}  // namespace parlance
