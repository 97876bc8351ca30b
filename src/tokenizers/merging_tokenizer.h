// A tokenizer of a vocabulary and a way to merge: what GGUF files, tiktoken's files and tekken.json have in common.
//
// A text is split at the added tokens that count in it; each run between them is split into words, and each word is
// merged. Begin reading at merging_tokenizer; what a kind of file is, its own reader says: gguf_vocabulary.cpp,
// tiktoken.cpp, tekken.cpp.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tokenizers/merger.h"
#include "tokenizers/splitter.h"

namespace parlance {

/// What becomes of bytes that no token of the vocabulary stands for.
enum class UnknownBytes : std::uint8_t { refused, dropped };

/// Another way than to split and to merge.
class RunEncoder {
 public:
  virtual ~RunEncoder() = default;
  /// Appends the tokens of a run between added tokens, with places in the run; those of `hidden` (by id) are none of
  /// the vocabulary. And to `dropped` what is in no token and is no white space
  /// and no mark. Fails with limit_memory.
  virtual Result<void> encode(std::string_view run, bool blank_in_front, const std::vector<bool>* hidden,
                              std::vector<EncodedToken>& into, std::vector<ByteSpan>& dropped) const = 0;
};

struct MergingParts {
  /// `added` ascending by id, with `control` as it is to be; `markers` are found here
  TokenizerFacts facts;
  std::vector<std::string> texts;  ///< by id: what a token stands for
  MergerParts merging;
  std::optional<Splitter> splitter;  ///< none: a run is one word
  std::unique_ptr<RunEncoder> runs;  ///< in place of the splitter and of merging
  std::array<TokenId, 256> bytes;    ///< the token of a byte that is in no token of a word; -1: none
  UnknownBytes unknown = UnknownBytes::refused;
  bool writes_blanks = false;   ///< the vocabulary writes a blank as U+2581, and merges such text
  bool blank_in_front = false;  ///< of each run
  bool longest_first = false;   ///< where added tokens overlap, the longest one counts; else the first
  MergingParts() { bytes.fill(-1); }
};

std::unique_ptr<Tokenizer> merging_tokenizer(MergingParts parts);

/// Does an added token of this text count as a control token? All do but white space, what stands for it, and single
/// letters, digits and signs of punctuation.
bool is_control_text(std::string_view text);

}  // namespace parlance
