// What a SentencePiece model makes of a text before it is cut into pieces.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizers/piece_trie.h"
#include "tokenizers/sentencepiece_charsmap.h"
#include "tokenizers/sentencepiece_proto.h"

namespace parlance {

struct SpNormalized {
  std::string text;
  /// For each byte of `text`, and for its end, where what it came of begins. Empty where nothing is left of a text.
  std::vector<std::uint32_t> places;
  std::vector<ByteSpan> dropped;  ///< parts that a rule takes away, other than white space and marks
};

/// Threads: any number at once.
class SpNormalizer {
 public:
  explicit SpNormalizer(const SpModel& model);
  /// User-defined pieces are never normalised. With the blank that the model puts in front of a text or behind it, or
  /// without. Fails with limit_memory (most_normalized).
  Result<SpNormalized> normalize(std::string_view text, const PieceTrie& user_defined, bool has_dummy) const;

 private:
  struct Part {
    std::string_view text;  ///< what it becomes
    std::size_t size;       ///< of what it was
  };
  Part part_of(std::string_view text, const PieceTrie& user_defined) const;
  void append(std::string_view part, std::uint32_t place, SpNormalized& into) const;

  CharsmapRules rules_;
  bool dummy_in_front_, dummy_behind_, removes_extra_, escapes_;
};

}  // namespace parlance
