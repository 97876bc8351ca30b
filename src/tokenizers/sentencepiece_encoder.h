// SpEncoder: a text as the pieces of a SentencePiece model, as SentencePiece 0.2.3 encodes it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/tokenizer.h"
#include "tokenizers/sentencepiece_proto.h"

namespace parlance {

struct SpToken {
  std::int32_t id = 0;
  std::size_t begin = 0, end = 0;  ///< bytes of the text
};

/// How a text is meant.
struct SpManner {
  bool has_dummy = true;    ///< the model's dummy blank is put to it, if the model has one
  bool is_guarded = false;  ///< none of SpChanges::hidden comes of it
};

/// Threads: any number may encode at once.
class SpEncoder {
 public:
  SpEncoder();
  SpEncoder(SpEncoder&&) noexcept;
  SpEncoder& operator=(SpEncoder&&) noexcept;
  ~SpEncoder();

  /// Fails with tokenizer, as SpSegmenter::open does. Lifetime: the model need not live on.
  Result<void> open(const SpModel& model, const SpChanges& changes, const std::string& path);
  /// Appends the tokens of a text, with the places of the bytes that each came of. Of the tokens of one unknown
  /// character's bytes the last has its place and the others none. Fails with tokenizer (a control piece comes of the
  /// text), limit_memory (normalising makes too much of it). To `dropped` go the parts that the normalisation takes
  /// away, other than white space and marks.
  Result<void> encode(std::string_view text, SpManner manner, std::vector<SpToken>& into,
                      std::vector<ByteSpan>& dropped) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace parlance
