// Strings: leaves that view bytes, and ropes that concatenate leaves without copying.
//
// Rule: never turn a string into bytes and back when a substring, a concatenation or a builder can
// keep the pieces; the address of every byte is its provenance (render/provenance.h). Text a builtin has
// to write anew is `derived` and names the string (or number) it was made from.
#pragma once
#include <span>
#include <string_view>

#include "value/runtime.h"

namespace parlance {

/// The bytes of a string in one run; a rope is flattened once and remembers. Valid as long as the arena.
std::string_view text(Runtime& rt, Value s);
/// The bytes of a string that is known to be a leaf (dict keys, template constants, JSON input).
inline std::string_view leaf_text(Value s) { return {s.data, s.size}; }

/// A copy of `bytes`, of no origin but the engine itself ("computed").
Value make_computed(Runtime& rt, std::string_view bytes);
/// A copy of `bytes` that was derived from `source` (a string, number, list or dict), starting at its byte `offset`.
Value make_derived(Runtime& rt, std::string_view bytes, Value source, std::size_t offset = 0);
/// A string that is one of the program's own constants: no copy, "computed".
inline Value make_static(std::string_view bytes) { return Value::view(bytes); }
/// What derived text should name as its source for byte `offset` of `source`.
TextSource source_of(Runtime& rt, Value source, std::size_t offset = 0);

/// Bytes [begin, end) of `s`, sharing its pieces and keeping kMarkup. Bounds are byte offsets on code point boundaries.
Value substring(Runtime& rt, Value s, std::size_t begin, std::size_t end);
/// a + b for two strings, sharing pieces. Markup if `markup`. Fails with limit_memory past kMaxText.
Value concat(Runtime& rt, Value a, Value b, bool markup = false);
/// The pieces of `s`, in order: calls `visit(std::string_view piece)`.
template <typename Visit>
void for_each_piece(Value s, Visit visit) {
  if ((s.flags & Value::kRope) == 0) return visit(std::string_view{s.data, s.size});
  for (std::uint32_t i = 0; i < s.rope->count; ++i)
    visit(std::string_view{s.rope->pieces[i].data, s.rope->pieces[i].size});
}

/// Goes through the pieces of a string once, in step with its bytes: for what shares or replaces many
/// small parts, where substring() would begin at the first piece each time. Offsets never go back.
class PieceCursor {
 public:
  explicit PieceCursor(Value s) : whole_(s) {}
  /// The piece from byte `offset` on, as a leaf; empty at the end.
  Value at(std::size_t offset) {
    if ((whole_.flags & Value::kRope) == 0) return leaf(whole_.data, whole_.size, offset);
    const Rope& rope = *whole_.rope;
    while (piece_ < rope.count && offset - begin_ >= rope.pieces[piece_].size) begin_ += rope.pieces[piece_++].size;
    if (piece_ == rope.count) return Value::view("");
    return leaf(rope.pieces[piece_].data, rope.pieces[piece_].size, offset - begin_);
  }
  /// Calls `visit(Value leaf)` for the bytes [begin, end), piece by piece.
  template <typename Visit>
  void for_each(std::size_t begin, std::size_t end, Visit visit) {
    while (begin < end) {
      Value piece = at(begin);
      if (piece.size > end - begin) piece.size = static_cast<std::uint32_t>(end - begin);
      visit(piece);
      begin += piece.size;
    }
  }

 private:
  static Value leaf(const char* data, std::size_t size, std::size_t from) {
    return Value::view({data + from, size - from});
  }
  Value whole_;
  std::size_t begin_ = 0;    ///< of the piece, in the string
  std::uint32_t piece_ = 0;  ///< number of the piece that was asked for last
};

/// Number of code points.
std::size_t length(Runtime& rt, Value s);
/// True if every byte is ASCII.
bool is_ascii(Runtime& rt, Value s);

/// Builds a string from pieces; what every builtin that assembles text uses.
class StringBuilder {
 public:
  explicit StringBuilder(Runtime& rt) : rt_(rt) {}
  /// Appends a string, sharing its pieces.
  void append(const Value& s) {
    if ((s.flags & Value::kRope) == 0) return push(s.data, s.size, s.extra);
    append({s.rope->pieces, s.rope->count});
  }
  void append(std::span<const Piece> pieces);
  /// Appends bytes [begin, end) of the flat text of `s`, sharing its pieces.
  void append(Value s, std::size_t begin, std::size_t end) { append(substring(rt_, s, begin, end)); }
  /// Appends one of the program's own constants (must live forever).
  void append_static(std::string_view bytes) { push(bytes.data(), bytes.size()); }
  /// Appends a copy of computed bytes.
  void append_computed(std::string_view bytes);
  /// Appends a copy of bytes derived from `source` at its byte `offset`.
  void append_derived(std::string_view bytes, Value source, std::size_t offset = 0);
  std::uint64_t size() const { return size_; }
  /// The string so far; the builder must not be used afterwards. Invalid (failure recorded) past kMaxText.
  Value finish(bool markup = false);

 private:
  void push(const char* data, std::size_t size, std::uint32_t literal = 0);
  void grow();

  Runtime& rt_;
  Piece* pieces_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace parlance
