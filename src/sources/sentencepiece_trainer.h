// TrainerSpec of a SentencePiece model: what the tokens around a text are, and what kind of model it is.
//
// Source: sentencepiece_model.proto, whose defaults these are.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace parlance {

/// The largest model that is read. Those in use are below 10 MiB.
inline constexpr std::size_t kMaxSpModel = std::size_t{64} << 20;
/// The field of the model that has the message.
inline constexpr std::uint64_t kSpTrainerField = 2;

struct SpTrainer {
  std::uint64_t algorithm = 1;  ///< ModelType
  bool whitespace_as_suffix = false;
  bool byte_fallback = false;
  std::int32_t unk_id = 0;  ///< an id below 0: there is no such token
  std::int32_t bos_id = 1;
  std::int32_t eos_id = 2;
  std::string unk = "<unk>";  ///< bytes of the file, which need not be UTF-8; never empty
  std::string bos = "<s>";
  std::string eos = "</s>";
};

/// Reads the message over what is in `trainer`, as protocol buffers are merged. False if it is damaged: then `trainer`
/// has what stands before the damage.
[[nodiscard]] bool read_sp_trainer(std::string_view message, SpTrainer& trainer);

}  // namespace parlance
