// A SentencePiece model file as far as encoding needs it, and how a model may be changed before it encodes.
//
// The file is a protocol buffer message (sentencepiece_model.proto): pieces, trainer_spec and normalizer_spec decide an
// encoding. Begin reading at read_sp_model.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance {

enum class SpType : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
enum class SpAlgorithm : std::uint8_t { unigram = 1, bpe = 2, word = 3, chars = 4 };

/// One entry of the vocabulary; its views are into the file's bytes.
struct SpPiece {
  std::string_view text;
  SpType type = SpType::normal;
  float score = 0;
};

struct SpModel {
  std::vector<SpPiece> pieces;  ///< a piece's number is its id
  SpAlgorithm algorithm = SpAlgorithm::unigram;
  std::string bos = "<s>";  ///< "": it has none
  std::string eos = "</s>";
  std::string unk = "<unk>";
  std::uint64_t unk_id = 0;  ///< always that of a piece
  bool byte_fallback = false;
  std::string charsmap;
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;     ///< a blank is written as U+2581
  bool whitespace_as_suffix = false;  ///< the dummy blank comes after a text
};

/// What is different in a model that encodes.
struct SpChanges {
  std::vector<bool> hidden;  ///< by id: of a guarded text none of these comes
  std::string_view anchor;   ///< text of a user-defined piece after the last one; "" for none
};

/// Reads a model. What it lets through can be used with any text; SpSegmenter still says no to some of it (two pieces
/// of one text, byte pieces that are missing). `bytes` must outlive the result. Fails with tokenizer.
Result<SpModel> read_sp_model(std::string_view bytes, const std::string& path);

}  // namespace parlance
