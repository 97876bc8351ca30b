// Output: the prompt while it is being made, as a list of pieces; captures and generation marks on top.
//
// Nothing is copied until text() at the end: an emit is one 16-byte piece that points at its bytes, and the
// address of the bytes is their provenance (origin.h). A capture ({% set %} block, macro, filter block) takes
// the pieces since its start back off the list as a rope.
#pragma once
#include <cstdint>
#include <vector>

#include "value/runtime.h"
#include "value/string.h"

namespace parlance {

/// Bytes [begin, end) of the prompt.
struct ByteRange {
  std::uint64_t begin;
  std::uint64_t end;
};

class Output {
 public:
  void reset() {
    count_ = 0;
    bytes_ = 0;
    nested_ = 0;
    generation_.clear();
  }
  /// `literal`: one more than the number of the template constant that the bytes are, if they are one.
  void emit(Runtime& rt, const char* data, std::uint32_t size, std::uint32_t literal = 0) {
    if (size == 0) return;
    if (count_ == pieces_.size()) grow(rt);
    pieces_[count_++] = {data, size, literal};
    bytes_ += size;
  }
  /// Room for so many pieces behind those that are there; take() makes some of them part of the output. Null after a failure.
  Piece* room_for(Runtime& rt, std::uint32_t count) {
    while (pieces_.size() - count_ < count) {
      if (rt.failed()) return nullptr;
      grow(rt);
    }
    return pieces_.data() + count_;
  }
  void take(std::uint32_t count, std::uint64_t bytes) {
    count_ += count;
    bytes_ += bytes;
  }
  /// Emits a string value, piece by piece.
  void emit(Runtime& rt, Value s) {
    if (s.is_leaf()) return emit(rt, s.data, s.size);
    for (std::uint32_t i = 0; i < s.rope->count; ++i) emit(rt, s.rope->pieces[i].data, s.rope->pieces[i].size);
  }

  /// Where a capture or a generation block began.
  struct Mark {
    std::uint32_t piece;
    std::uint64_t bytes;
  };
  Mark begin_capture() {
    if (nested_++ == 0) outermost_ = bytes_;
    return {count_, bytes_};
  }
  /// The text emitted since `mark`, taken off the output.
  Value end_capture(Runtime& rt, Mark mark, bool markup);
  Mark begin_generation() { return begin_capture(); }
  /// Keeps the text and records its range. Counted as transformers does: a block inside a capturing construct gets
  /// the offset of the outermost one, and the length of its text there. Ranges come in order of closing.
  void end_generation(Mark mark) {
    std::uint64_t length = bytes_ - mark.bytes;
    generation_.push_back({outermost_, outermost_ + length});
    --nested_;
  }

  bool is_capturing() const { return nested_ != 0; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint32_t piece_count() const { return count_; }
  const Piece* pieces() const { return pieces_.data(); }
  const std::vector<ByteRange>& generation() const { return generation_; }

 private:
  void grow(Runtime& rt);

  std::vector<Piece> pieces_;
  std::uint32_t count_ = 0;
  std::uint32_t nested_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t outermost_ = 0;
  std::vector<ByteRange> generation_;
};

}  // namespace parlance
