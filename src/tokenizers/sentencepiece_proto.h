// A SentencePiece model file as far as encoding needs it: read, held against what libsentencepiece
// takes on trust, and written again with changes.
//
// The file is a protocol buffer message (sentencepiece_model.proto). Of a message that is written
// here the library gets pieces, trainer_spec and normalizer_spec: nothing else decides an encoding.
// A change is appended to the message it is about, where the last value of a field counts. Begin
// reading at read_sp_model.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance {

enum class SpType : std::uint8_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};
enum class SpAlgorithm : std::uint8_t { unigram = 1, bpe = 2, word = 3, chars = 4 };

/// One entry of the vocabulary; its views are into the file's bytes.
struct SpPiece {
  std::string_view text;
  SpType type = SpType::normal;
  float score = 0;
  std::string_view message;  ///< as it stands in the file
};

struct SpModel {
  std::vector<SpPiece> pieces;  ///< a piece's number is its id
  std::string trainer;          ///< the message trainer_spec
  std::string normalizer;       ///< the message normalizer_spec
  SpAlgorithm algorithm = SpAlgorithm::unigram;
  std::string bos = "<s>";
  std::string eos = "</s>";
  std::string unk = "<unk>";
  std::uint64_t unk_id = 0;  ///< always that of a piece
  bool byte_fallback = false;
  std::string charsmap;
  bool remove_extra_whitespaces = true;
};

/// What is different in a model that is written.
struct SpChanges {
  bool no_dummy_prefix = false;
  std::vector<bool>
      hidden;  ///< by id: becomes a control piece whose text is no UTF-8, so that no text gives it
  std::string_view anchor;  ///< text of a user-defined piece after the last one; "" for none
};

/// The largest file that is read. Those in use are below 10 MiB.
inline constexpr std::size_t kMaxSpModel = std::size_t{64} << 20;

/// Reads a model. What it lets through, libsentencepiece reads and uses without leaving its bounds,
/// whatever the text; the library itself still says no to some of it (two pieces of one text, byte
/// pieces that are missing). `bytes` must outlive the result. Fails with tokenizer.
Result<SpModel> read_sp_model(std::string_view bytes, const std::string& path);

std::string write_sp_model(const SpModel& model, const SpChanges& changes);

/// Is this a normalisation table (precompiled_charsmap) that can be used with any text? "" if it
/// is, else what is wrong.
std::string_view fault_of_charsmap(std::string_view charsmap);

}  // namespace parlance
