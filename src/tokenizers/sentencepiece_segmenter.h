// Which pieces of a SentencePiece model a normalised text is cut into, in the four ways that there are.
//
//   unigram   the pieces whose scores have the largest sum
//   bpe       neighbours become one by the score of what they become, from characters on
//   word      words, each with its blank
//   chars     characters
// Facts, ties included: SentencePiece 0.2.3 (model_interface.cc, unigram_model.cc, bpe_model.cc, word_model.cc,
// char_model.cc). Begin reading at SpSegmenter::segment.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizers/piece_trie.h"
#include "tokenizers/sentencepiece_proto.h"

namespace parlance {

struct SpSegment {
  std::uint32_t size = 0;  ///< in bytes of the normalised text
  std::int32_t id = 0;
};

/// Not movable: it has views of its own texts. Threads: any number may segment at once.
class SpSegmenter {
 public:
  SpSegmenter() = default;
  SpSegmenter(const SpSegmenter&) = delete;
  SpSegmenter& operator=(const SpSegmenter&) = delete;

  /// Fails with tokenizer: two pieces of one text, two for what is unknown, byte pieces that are too many or too few.
  Result<void> open(const SpModel& model, const SpChanges& changes, const std::string& path);
  /// Appends the pieces of a text, in order; their sizes are the text's. Of a guarded one no piece is hidden
  /// (SpChanges).
  void segment(std::string_view text, bool is_guarded, std::vector<SpSegment>& into) const;

  const PieceTrie& user_defined(bool is_guarded) const { return uses_[is_guarded ? 1 : 0].user_defined; }
  std::int32_t unknown() const { return unknown_; }
  bool is_control(std::int32_t id) const { return type(id) == SpType::control; }
  /// Does a piece stand for each byte of what is unknown?
  bool has_bytes() const { return byte_fallback_; }
  std::int32_t byte(std::uint8_t value) const { return bytes_[value]; }

 private:
  struct Merging;
  /// What is different for a guarded text.
  struct Use {
    std::vector<bool> hidden;  ///< by id, for all of them
    PieceTrie user_defined;
    float least = 0, most = 0;  ///< of the scores of normal pieces
  };
  Result<void> add_pieces(const SpModel& model, const SpChanges& changes, const std::string& path);
  Result<void> add_byte(const SpModel& model, std::size_t id, const std::string& path);
  void set_use(std::vector<bool> hidden, Use& use) const;
  SpType type(std::int32_t id) const { return types_[static_cast<std::size_t>(id)]; }
  std::int32_t id_of(std::string_view text, const Use& use) const;
  void segment_unigram(std::string_view text, const Use& use, std::vector<SpSegment>& into) const;
  void segment_bpe(std::string_view text, const Use& use, std::vector<SpSegment>& into) const;
  void segment_words(std::string_view text, const Use& use, std::vector<SpSegment>& into) const;
  void segment_characters(std::string_view text, const Use& use, std::vector<SpSegment>& into) const;
  void offer(Merging& work, std::int32_t left, std::int32_t right) const;
  void merge_all(Merging& work) const;
  void append_split(const Merging& work, std::string_view text, std::vector<SpSegment>& into) const;

  using Ids = std::unordered_map<std::string_view, std::int32_t>;
  SpAlgorithm algorithm_ = SpAlgorithm::unigram;
  bool whitespace_as_suffix_ = false, byte_fallback_ = false;
  std::vector<std::string> texts_;  ///< by id, the anchor's behind the pieces
  std::vector<SpType> types_;
  std::vector<float> scores_;
  Ids pieces_;    ///< what text may become; views of texts_
  Ids reserved_;  ///< control, unknown and byte pieces, which only a whole word or character may become
  std::size_t longest_ = 0;
  PieceTrie trie_;  ///< of pieces_, for unigram
  std::array<std::int32_t, 256> bytes_{};
  std::int32_t unknown_ = -1;
  std::array<Use, 2> uses_;  ///< the second one for guarded texts
};

}  // namespace parlance
