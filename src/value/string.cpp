// Strings: flattening, substrings, concatenation and the builder.
//
// Ropes that grow by appending (`ns.text = ns.text ~ more`) share one PieceBuffer: the newest rope owns
// the unused tail, so each append costs only its own pieces. An older rope appends by copying.
#include "value/string.h"

#include <cstring>

#include "base/utf8.h"

namespace parlance {

/// Pieces with room to grow. `used` tells which rope is the newest: the one whose count equals it.
struct PieceBuffer {
  Piece* pieces;
  std::uint32_t used;
  std::uint32_t capacity;
};

namespace {

Value rope_value(const Rope* rope, std::uint64_t size, std::uint8_t flags) {
  Value v;
  v.kind = Kind::string;
  v.flags = static_cast<std::uint8_t>(flags | Value::kRope);
  v.size = static_cast<std::uint32_t>(size);
  v.rope = rope;
  return v;
}

Value leaf_value(const char* data, std::size_t size, std::uint8_t flags) {
  Value v = Value::view({data, size});
  v.flags = flags & Value::kMarkup;
  return v;
}

std::uint32_t pieces_with_text(Value s) {
  if ((s.flags & Value::kRope) != 0) return s.rope->count;
  return s.size == 0 ? 0 : 1;
}

void copy_pieces(Piece* out, Value s) {
  if ((s.flags & Value::kRope) != 0) {
    std::memcpy(out, s.rope->pieces, s.rope->count * sizeof(Piece));
  } else if (s.size != 0) {
    *out = {s.data, s.size, s.extra};
  }
}

/// A buffer that starts with the pieces of `a` and has room for `more`.
/// The tail of a shared buffer may be taken only by the rope that ends where the used part ends. Any other rope would
/// overwrite pieces that a newer one already shows. Doubling makes n appends cost O(n) pieces.
PieceBuffer* buffer_for(Runtime& rt, Value a, std::uint32_t more) {
  std::uint32_t have = pieces_with_text(a);
  if ((a.flags & Value::kRope) != 0 && a.rope->buffer != nullptr) {
    PieceBuffer* shared = a.rope->buffer;
    if (shared->used == have && shared->capacity - have >= more) return shared;
  }
  std::uint32_t capacity = (have + more) * 2;
  if (!rt.reserve(std::uint64_t{capacity} * sizeof(Piece))) return nullptr;
  auto* buffer = rt.arena.make<PieceBuffer>(PieceBuffer{rt.arena.allocate_array<Piece>(capacity), have, capacity});
  copy_pieces(buffer->pieces, a);
  return buffer;
}

const char* flatten(Runtime& rt, Value s) {
  const Rope& rope = *s.rope;
  char* out = rt.arena.allocate_text(s.size);
  char* at = out;
  for (std::uint32_t i = 0; i < rope.count; ++i) {
    const Piece& p = rope.pieces[i];
    std::memcpy(at, p.data, p.size);
    at += p.size;
  }
  rope.flat = out;
  return out;
}

}  // namespace

/// The flat copy is kept in the rope, so a template that asks in a loop pays for one copy. A copy has no address in the
/// input, so what is cut from it must go through substring(), which cuts pieces.
std::string_view text(Runtime& rt, Value s) {
  if ((s.flags & Value::kRope) == 0) return {s.data, s.size};
  if (s.rope->flat == nullptr) {
    if (!rt.reserve(s.size)) return {};
    rt.charge_bytes(s.size);
    flatten(rt, s);
  }
  return {s.rope->flat, s.size};
}

Value make_computed(Runtime& rt, std::string_view bytes) { return Value::view(rt.arena.copy_text(bytes)); }

/// The address that stands for the origin of derived text. Past the last byte it is the last byte's: an ellipsis behind
/// a cut text comes from that text.
TextSource source_of(Runtime&, Value source, std::size_t offset) {
  const bool is_scalar = source.kind == Kind::integer || source.kind == Kind::real || source.kind == Kind::boolean;
  if (is_scalar && source.origin == 0) return {nullptr, kNumberSource};
  if (source.kind != Kind::string) return {nullptr, source.origin};
  if ((source.flags & Value::kRope) == 0) return {source.size == 0 ? nullptr : source.data + offset, 0};
  for (std::uint32_t i = 0; i < source.rope->count; ++i) {
    const Piece& p = source.rope->pieces[i];
    if (offset < p.size) return {p.data + offset, 0};
    offset -= p.size;
  }
  if (source.rope->count == 0) return {};
  const Piece& last = source.rope->pieces[source.rope->count - 1];
  return {last.data + last.size - 1, 0};
}

Value make_derived(Runtime& rt, std::string_view bytes, Value source, std::size_t offset) {
  std::string_view copy = rt.arena.copy_text(bytes);
  TextSource from = source_of(rt, source, offset);
  if (from.data != nullptr && !source.is_leaf()) from.id = kMixedSource;
  rt.arena.log_derived(copy.data(), copy.size(), from);
  return Value::view(copy);
}

namespace {
/// substring() of a rope: the pieces that [begin, end) touches, trimmed at both ends.
/// The search for the first piece begins at piece 0, so cutting a rope of n pieces n times would take n² steps. That is
/// why the walk is charged, and why loops use PieceCursor.
Value rope_substring(Runtime& rt, Value s, std::size_t begin, std::size_t end) {
  const Rope& rope = *s.rope;
  std::uint32_t first = 0;
  std::size_t before = 0;
  while (before + rope.pieces[first].size <= begin) before += rope.pieces[first++].size;
  std::uint32_t last = first;
  std::size_t upto = before + rope.pieces[last].size;
  while (upto < end) upto += rope.pieces[++last].size;
  rt.charge(last / 8);
  if (first == last) return leaf_value(rope.pieces[first].data + (begin - before), end - begin, s.flags);
  std::uint32_t count = last - first + 1;
  if (!rt.reserve(std::uint64_t{count} * sizeof(Piece))) return Value::invalid();
  Piece* pieces = rt.arena.allocate_array<Piece>(count);
  std::memcpy(pieces, rope.pieces + first, count * sizeof(Piece));
  pieces[0].data += begin - before;
  pieces[0].size -= static_cast<std::uint32_t>(begin - before);
  pieces[count - 1].size -= static_cast<std::uint32_t>(upto - end);
  // A literal's number stands for the whole literal; a trimmed piece must be looked up by its address.
  pieces[0].literal = pieces[count - 1].literal = 0;
  // A part of a flattened rope is flat already.
  const char* flat = rope.flat == nullptr ? nullptr : rope.flat + begin;
  return rope_value(rt.arena.make<Rope>(Rope{pieces, count, flat, nullptr}), end - begin, s.flags);
}
}  // namespace

Value substring(Runtime& rt, Value s, std::size_t begin, std::size_t end) {
  if (begin >= end) return leaf_value("", 0, s.flags);
  if (begin == 0 && end == s.size) return s;
  if ((s.flags & Value::kRope) == 0) return leaf_value(s.data + begin, end - begin, s.flags);
  return rope_substring(rt, s, begin, end);
}

/// Only `a` may give its buffer: appending is the common case (`text ~ more`), and in front there is no room.
Value concat(Runtime& rt, Value a, Value b, bool markup) {
  std::uint8_t flags = markup ? Value::kMarkup : std::uint8_t{0};
  std::uint64_t size = std::uint64_t{a.size} + b.size;
  if (a.size == 0 || b.size == 0) {
    Value whole = a.size == 0 ? b : a;
    whole.flags = static_cast<std::uint8_t>((whole.flags & Value::kRope) | flags);
    return whole;
  }
  if (size >= Runtime::kMaxText) {
    rt.reserve(size);
    return Value::invalid();
  }
  std::uint32_t more = pieces_with_text(b);
  rt.charge(more / 8);
  PieceBuffer* buffer = buffer_for(rt, a, more);
  if (buffer == nullptr) return Value::invalid();
  copy_pieces(buffer->pieces + buffer->used, b);
  buffer->used += more;
  return rope_value(rt.arena.make<Rope>(Rope{buffer->pieces, buffer->used, nullptr, buffer}), size, flags);
}

std::size_t length(Runtime& rt, Value s) {
  if (!rt.charge_bytes(s.size)) return 0;
  std::size_t n = 0;
  for_each_piece(s, [&](std::string_view piece) { n += utf8::count(piece); });
  return n;
}

bool is_ascii(Runtime& rt, Value s) {
  if (!rt.charge_bytes(s.size)) return true;
  bool all = true;
  for_each_piece(s, [&](std::string_view piece) { all = all && utf8::is_ascii(piece); });
  return all;
}

// ---- StringBuilder

/// A builder cannot fail in the middle of a builtin. Past the limit it goes on in the memory it has, and finish() gives
/// the invalid value.
void StringBuilder::grow() {
  std::uint32_t capacity = capacity_ == 0 ? 8 : capacity_ * 2;
  if (!rt_.reserve(std::uint64_t{capacity} * sizeof(Piece))) {
    count_ = 0;  // the failure is recorded: what is built from here on does not matter
    if (capacity_ != 0) return;
    capacity = 8;
  }
  Piece* pieces = rt_.arena.allocate_array<Piece>(capacity);
  if (count_ != 0) std::memcpy(pieces, pieces_, count_ * sizeof(Piece));
  pieces_ = pieces;
  capacity_ = capacity;
}

void StringBuilder::push(const char* data, std::size_t size, std::uint32_t literal) {
  if (size == 0) return;
  size_ += size;
  if (count_ != 0) {
    Piece& last = pieces_[count_ - 1];
    // Adjacent in memory means adjacent in the source: one piece says the same.
    if (last.data + last.size == data && std::uint64_t{last.size} + size < Runtime::kMaxText) {
      last.size += static_cast<std::uint32_t>(size);
      last.literal = 0;
      return;
    }
  }
  if (count_ == capacity_) grow();
  pieces_[count_++] = {data, static_cast<std::uint32_t>(size), literal};
}

void StringBuilder::append(std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) push(piece.data, piece.size, piece.literal);
}

void StringBuilder::append_computed(std::string_view bytes) {
  if (!rt_.reserve(bytes.size())) return;
  std::string_view copy = rt_.arena.copy_text(bytes);
  push(copy.data(), copy.size());
}

void StringBuilder::append_derived(std::string_view bytes, Value source, std::size_t offset) {
  if (!rt_.reserve(bytes.size())) return;
  std::string_view copy = rt_.arena.copy_text(bytes);
  TextSource from = source_of(rt_, source, offset);
  if (from.data != nullptr && bytes.size() > 4 && !source.is_leaf()) from.id = kMixedSource;  // more than a character
  rt_.arena.log_derived(copy.data(), copy.size(), from);
  push(copy.data(), copy.size());
}

Value StringBuilder::finish(bool markup) {
  std::uint8_t flags = markup ? Value::kMarkup : std::uint8_t{0};
  if (rt_.failed()) return Value::invalid();
  if (size_ >= Runtime::kMaxText) {
    rt_.reserve(size_);
    return Value::invalid();
  }
  if (count_ == 0) return leaf_value("", 0, flags);
  // One piece needs no rope: a leaf keeps its address and its number of a literal.
  if (count_ == 1) {
    Value leaf = leaf_value(pieces_[0].data, pieces_[0].size, flags);
    leaf.extra = static_cast<std::uint16_t>(pieces_[0].literal);
    return leaf;
  }
  return rope_value(rt_.arena.make<Rope>(Rope{pieces_, count_, nullptr, nullptr}), size_, flags);
}

std::string whole_text(Value value) {
  std::string text;
  if (value.is_string()) for_each_piece(value, [&text](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace parlance
