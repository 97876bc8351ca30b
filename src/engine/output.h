// Output: the prompt while it is being made, as a list of pieces or as text; captures and generation marks on top.
//
// Where somebody will ask where bytes came from, an emit is one 16-byte piece that points at its bytes, whose address
// is their provenance (render/provenance.h); settle() makes text and spans of them. Where nobody will, bytes go to the
// prompt's text at once. Long results, such as JSON, are written to it in both cases (json/text_target.h). A capture
// ({% set %} block, macro, filter block) is always made of pieces: it takes those since its start back off the list as
// a rope.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "json/text_target.h"
#include "value/runtime.h"
#include "value/string.h"

namespace parlance {

/// Bytes [begin, end) of the prompt.
struct ByteRange {
  std::uint64_t begin;
  std::uint64_t end;
};

class Output final : public TextTarget {
 public:
  Output() = default;
  /// Begins anew, with pieces.
  void reset() {
    count_ = 0;
    bytes_ = 0;
    nested_ = generations_ = 0;
    makes_pieces_ = true;
    text_ = nullptr;
    begin_ = at_ = room_end_ = nullptr;
    capacity_ = 0;
    spans_ = nullptr;
    generation_.clear();
  }
  /// After reset(): what is emitted outside of captures becomes `text`, which only grows and has room for `expected`
  /// bytes beforehand. If there are `spans`, it is pieces until settle(). The three must live until reset().
  void write_into(std::unique_ptr<char[]>& text, std::size_t& capacity, std::size_t expected, SpanMaker* spans);
  /// Makes text and spans of the pieces that wait for it; the arena's log must be sorted. In the end the text holds
  /// bytes() bytes, and there are no pieces. False (recorded) past a limit.
  bool settle(Runtime& rt);
  /// `literal`: as Piece::literal.
  void emit(Runtime& rt, const char* data, std::uint32_t size, std::uint32_t literal = 0) {
    if (size <= room()) {
      copy_bytes(at_, data, size);
      at_ += size;
    } else if (makes_pieces()) {
      if (count_ == pieces_.size()) grow(rt);
      pieces_[count_++] = {data, size, literal};
      bytes_ += size;
    } else {
      emit_long(rt, data, size);
    }
  }
  /// How many bytes may be copied to at() instead of being emitted; put() says what was. Otherwise pieces are made, or
  /// room.
  std::size_t room() const { return static_cast<std::size_t>(room_end_ - at_); }
  void put(char* end) { at_ = end; }
  bool makes_pieces() const { return makes_pieces_; }

  /// Room for so many pieces behind those that are there; take() makes some of them part of the output. Null after a
  /// failure.
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
    if (s.is_leaf()) return emit(rt, s.data, s.size, s.extra);
    for (const Piece& piece : std::span(s.rope->pieces, s.rope->count)) emit(rt, piece.data, piece.size, piece.literal);
  }

  /// Where a capture or a generation block began.
  struct Mark {
    std::uint32_t piece;
    std::uint64_t bytes;
  };
  Mark begin_capture() {
    if (!is_capturing()) outermost_ = bytes();
    if (nested_++ == 0) close_text();
    return {count_, bytes()};
  }
  /// The text emitted since `mark`, taken off the output.
  Value end_capture(Runtime& rt, Mark mark, bool markup);
  /// For Jinja2 it is a capture whose text is emitted at its end. So it is emitted at once, and only counts as one.
  Mark begin_generation() {
    if (!is_capturing()) outermost_ = bytes();
    ++generations_;
    return {count_, bytes()};
  }
  /// Records the range of the text since `mark`. Counted as transformers does: a block inside a capturing construct
  /// gets the offset of the outermost one, and the length of its text there. Ranges come in order of closing.
  void end_generation(Mark mark) {
    --generations_;
    generation_.push_back({outermost_, outermost_ + bytes() - mark.bytes});
  }

  bool open(Runtime& rt) override;
  bool extend(Runtime& rt, char* at, std::size_t bytes) override;
  void close(Runtime& rt, char* at) override;

  bool is_capturing() const { return (nested_ | generations_) != 0; }
  /// Of pieces and text together.
  std::uint64_t bytes() const { return bytes_ + written(); }
  std::uint32_t piece_count() const { return count_; }
  const Piece* pieces() const { return pieces_.data(); }
  const std::vector<ByteRange>& generation() const { return generation_; }

 private:
  void emit_long(Runtime& rt, const char* data, std::uint32_t size);
  void grow(Runtime& rt);
  bool grow_text(Runtime& rt, std::size_t size);
  void grow_to(const Runtime& rt, std::size_t least);
  std::uint64_t written() const { return static_cast<std::uint64_t>(at_ - begin_); }
  /// While pieces are made there is no room for text.
  void close_text() {
    room_end_ = at_;
    makes_pieces_ = true;
  }
  void open_text();

  std::unique_ptr<char[]>* text_ = nullptr;  ///< what is written into, if it is
  std::size_t* text_capacity_ = nullptr;
  char* room_end_ = nullptr;  ///< where room() ends: end() only where nothing but text is made
  bool makes_pieces_ = true;
  std::vector<Piece> pieces_;
  std::uint32_t count_ = 0;
  std::uint32_t nested_ = 0;       ///< captures that are open
  std::uint32_t generations_ = 0;  ///< and generation blocks
  std::uint64_t bytes_ = 0;        ///< of the pieces
  std::uint64_t outermost_ = 0;
  std::vector<ByteRange> generation_;
};

/// Records that the prompt is longer than the limits allow.
void fail_output_limit(Runtime& rt);

}  // namespace parlance
