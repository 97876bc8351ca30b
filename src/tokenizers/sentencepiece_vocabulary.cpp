// Which tokens of a SentencePiece model are control tokens. Begin reading at SpVocabulary::fill.
#include "tokenizers/sentencepiece_vocabulary.h"

#include <algorithm>

#include "base/utf8.h"
#include "tokenizers/pieces.h"
#include "tokens/tokenizer/control_matcher.h"

namespace parlance {
namespace {

/// The byte of "<0x0A>", as models write them.
std::string byte_of(std::string_view piece) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (piece.size() != 6) return std::string(piece);
  const std::size_t high = kDigits.find(piece[3]), low = kDigits.find(piece[4]);
  if (high == kDigits.npos || low == kDigits.npos) return std::string(piece);
  return std::string(1, static_cast<char>(high * 16 + low));
}

std::string piece_text(const SpPiece& piece) {
  switch (piece.type) {
    case SpType::byte: return byte_of(piece.text);
    case SpType::control:
    case SpType::unknown: return std::string(piece.text);
    default: return with_blanks(piece.text);
  }
}

bool is_added_by_type(SpType type) {
  return type == SpType::control || type == SpType::user_defined || type == SpType::unknown;
}

std::string algorithm_name(SpAlgorithm algorithm) {
  switch (algorithm) {
    case SpAlgorithm::unigram: return "SentencePiece, Unigram";
    case SpAlgorithm::bpe: return "SentencePiece, BPE";
    case SpAlgorithm::word: return "SentencePiece, words";
    case SpAlgorithm::chars: break;
  }
  return "SentencePiece, characters";
}

/// The number of each piece by its text, the first of those that share one.
std::unordered_map<std::string_view, TokenId> pieces_by_text(const SpModel& model) {
  std::unordered_map<std::string_view, TokenId> ids;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) ids.emplace(model.pieces[id].text, static_cast<TokenId>(id));
  return ids;
}

void note_other(const AddedToken& token, std::string_view piece, TokenizerFacts& facts) {
  facts.notes.push_back("added token '" + token.text + "' left out: its id " + std::to_string(token.id) +
                        " is that of '" + std::string(piece) + "'");
}

}  // namespace

void SpVocabulary::add_pieces(const SpModel& model, AddedById& all, TokenizerFacts& facts) {
  for (const SpPiece& piece : model.pieces) {
    const auto id = static_cast<TokenId>(texts_.size());
    texts_.push_back(piece_text(piece));
    types_.push_back(piece.type);
    const bool plain =
        piece.type == SpType::user_defined && (is_blank(texts_.back()) || is_plain_character(texts_.back()));
    symbol_.push_back(piece.type == SpType::user_defined);
    hidden_.push_back(!plain && (piece.type == SpType::control || piece.type == SpType::user_defined));
    if (piece.type == SpType::unknown && !facts.unk) facts.unk = id;
    if (piece.type == SpType::control && piece.text == model.bos) facts.bos = id;
    if (piece.type == SpType::control && piece.text == model.eos) facts.eos = id;
    if (!is_added_by_type(piece.type)) continue;
    AddedToken token{.id = id, .text = texts_.back(), .special = piece.type != SpType::user_defined};
    token.control = !plain;
    all.emplace(id, std::move(token));
  }
}

/// One token of a file or of the options; an earlier one of this id gives way. Left out with a note
/// if the id is that of another text.
void SpVocabulary::add(const AddedToken& token, AddedById& all, TokenizerFacts& facts) {
  const bool is_piece = token.id >= 0 && std::size_t(token.id) < texts_.size();
  if (is_piece && (is_byte(token.id) || texts_[std::size_t(token.id)] != with_blanks(token.text)))
    return note_other(token, texts_[std::size_t(token.id)], facts);
  AddedToken& added = all[token.id] = token;
  added.control = !is_blank(token.text);
  if (is_piece) {
    symbol_[std::size_t(token.id)] = false;
    hidden_[std::size_t(token.id)] = added.control && type(token.id) != SpType::unknown;
  } else {
    beyond_[token.id] = token.text;
  }
}

void SpVocabulary::find_markers(const AddedById& all, TokenizerFacts& facts) {
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (types_[i] != SpType::normal || !is_marker(texts_[i]) || all.count(id) != 0) continue;
    hidden_[i] = true;
    facts.markers.push_back(id);
    markers_.push_back({.id = id, .text = texts_[i]});
  }
}

Result<void> SpVocabulary::fill(const SpModel& model, const std::vector<std::string>& special_tokens,
                                std::span<const AddedToken> added, TokenizerFacts& facts) {
  facts.kind = algorithm_name(model.algorithm);
  facts.weighs_runs = model.algorithm == SpAlgorithm::unigram;
  AddedById all;
  add_pieces(model, all, facts);
  auto next = static_cast<TokenId>(texts_.size());
  for (const std::string& text : special_tokens) {
    if (text.empty()) return Error(ErrorCode::tokenizer, "a special token for a SentencePiece model has no text");
    add({.id = next++, .text = text, .special = true}, all, facts);
  }
  const std::unordered_map<std::string_view, TokenId> ids = pieces_by_text(model);
  for (AddedToken token : added) {
    if (const auto found = ids.find(token.text); token.id < 0 && found != ids.end()) token.id = found->second;
    if (token.id >= 0 && !token.text.empty()) add(token, all, facts);
  }
  find_markers(all, facts);
  for (std::size_t i = 0; i < symbol_.size(); ++i) {
    if (symbol_[i]) facts.symbols.push_back(static_cast<TokenId>(i));
  }
  facts.vocabulary_size = texts_.size();
  for (auto& [id, token] : all) {
    facts.vocabulary_size = std::max(facts.vocabulary_size, std::size_t(id) + 1);
    facts.added.push_back(std::move(token));
  }
  return {};
}

/// It finds what is no control piece; and those of one character (of one word) it looks up by their
/// text.
bool SpVocabulary::may_be_forged(SpAlgorithm algorithm) const {
  const bool looks_up_words = algorithm == SpAlgorithm::word || algorithm == SpAlgorithm::chars;
  for (std::size_t id = 0; id < hidden_.size(); ++id) {
    const std::string& text = texts_[id];
    const bool one_character = utf8::decode(text.data(), text.data() + text.size()).size == text.size();
    if (hidden_[id] && (types_[id] != SpType::control || looks_up_words || one_character)) return true;
  }
  return false;
}

std::string SpVocabulary::text(TokenId id) const {
  if (id >= 0 && std::size_t(id) < texts_.size()) return texts_[std::size_t(id)];
  const auto found = beyond_.find(id);
  return found == beyond_.end() ? std::string() : found->second;
}

}  // namespace parlance
