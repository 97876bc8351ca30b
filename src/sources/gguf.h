// The header of a GGUF file: what it says about chat, and nothing else of it.
//
// Facts: the GGUF specification (ggml, docs/gguf.md) and what gguf-py writes (constants.py,
// gguf_writer.py). Leans on nothing; gguf_source.cpp makes a ModelSource of it. Begin reading at
// read_gguf.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"
#include "sources/mapped_file.h"

namespace parlance {

/// A header of more bytes is refused. The largest in use, with a vocabulary of 256k tokens, are
/// below 32 MiB.
inline constexpr std::size_t kMaxGgufHeader = std::size_t{512} << 20;

/// An array of texts inside the file: nothing is copied, any text of it is found in a short walk.
class GgufTexts {
 public:
  std::uint64_t size() const { return size_; }
  /// The text of this number; nothing when there is none.
  std::optional<std::string_view> at(std::uint64_t number) const;
  /// All of them, in one walk.
  template <typename Take>
  void each(Take take) const {
    std::size_t place = steps_.empty() ? 0 : steps_[0];
    for (std::uint64_t i = 0; i < size_; ++i) {
      const std::string_view text = text_at(place);
      take(text);
      place += 8 + text.size();
    }
  }

 private:
  friend class GgufReader;
  static constexpr std::uint64_t kStep = 1024;
  std::string_view text_at(std::size_t place) const;
  std::string_view bytes_;
  bool big_endian_ = false;
  std::uint64_t size_ = 0;
  std::vector<std::size_t> steps_;  ///< where each kStep-th text begins
};

struct GgufTemplate {
  std::string_view key;
  std::string_view name;  ///< "default", or what stands after the key's "tokenizer.chat_template."
  std::string_view text;
};

struct GgufTokenId {
  std::string_view key;
  std::string_view variable;  ///< "bos_token", …
  std::int64_t id;
  std::size_t offset;  ///< of the number in the file
};

/// Views of the file's bytes; they live as long as those.
struct GgufHeader {
  std::uint32_t version = 0;
  bool big_endian = false;
  std::uint64_t pair_count = 0;
  std::vector<GgufTemplate> templates;
  std::vector<GgufTokenId> token_ids;
  GgufTexts tokens;
  std::string_view token_types;   ///< an array of numbers of four bytes each; "" where there is none
  std::string_view token_scores;  ///< the same
  bool scores_are_integers = false;
  GgufTexts merges;                       ///< "left right" each
  std::string_view tokenizer;             ///< tokenizer.ggml.model: which algorithm
  std::string_view splitting;             ///< tokenizer.ggml.pre: how it splits text into words
  std::string_view name;                  ///< general.name
  std::string_view architecture;          ///< general.architecture: "llama"
  std::string_view size_label;            ///< general.size_label: "135M"
  std::optional<std::int64_t> file_type;  ///< general.file_type: how most weights are stored
  std::string_view charsmap;  ///< tokenizer.ggml.precompiled_charsmap: what is replaced before text becomes tokens
  std::optional<bool> add_space_prefix;
  std::optional<bool> remove_extra_whitespaces;
  std::optional<bool> add_bos_token;
  std::optional<bool> add_eos_token;
  std::optional<std::int64_t> split_number;  ///< of this file, from 0, where the model is split
  std::optional<std::int64_t> split_count;
  std::string_view type;  ///< general.type: "model", "adapter", "mmproj", …

  std::uint64_t token_type_count() const { return token_types.size() / 4; }
  /// llama.cpp's type of this token, which must be below the count.
  std::uint32_t token_type(std::uint64_t number) const;
  std::uint64_t token_score_count() const { return token_scores.size() / 4; }
  /// What merging goes by where there are no merges; must be below the count.
  float token_score(std::uint64_t number) const;
};

/// Reads a header: versions 2 and 3, either byte order. Every length is held against what is there,
/// so that no header makes it read outside of `bytes` or allocate more than a fraction of them.
/// Fails with model_file; message and location have the byte.
/// `file`, if given, is whose bytes they are: its memory is given back while a long array is
/// walked.
Result<GgufHeader> read_gguf(std::string_view bytes, const std::string& path, const MappedFile* file = nullptr);

}  // namespace parlance
