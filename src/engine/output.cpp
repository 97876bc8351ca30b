// Output: growing the text and the piece list, and turning the list's tail into a rope.
#include "engine/output.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/bytes.h"

namespace parlance {

void Output::write_into(std::unique_ptr<char[]>& text, std::size_t& capacity, std::size_t expected, SpanMaker* spans) {
  if (capacity < expected) {
    text = std::make_unique_for_overwrite<char[]>(expected);
    capacity = expected;
  }
  text_ = &text;
  text_capacity_ = &capacity;
  spans_ = spans;
  capacity_ = capacity;
  begin_ = at_ = text.get();
  room_end_ = spans == nullptr ? begin_ + capacity_ : at_;
  makes_pieces_ = spans != nullptr;
}

bool Output::settle(Runtime& rt) {
  const auto size = static_cast<std::size_t>(bytes_);
  if (size > capacity_ - written() && !grow_text(rt, size)) return false;
  at_ = room_end_ = spans_->copy_all({pieces_.data(), count_}, begin_, at_);
  count_ = 0;
  bytes_ = 0;
  return true;
}

// ---- TextTarget

bool Output::open(Runtime& rt) {
  if (text_ == nullptr || nested_ != 0) return false;
  return spans_ == nullptr || (rt.arena.log_is_sorted() && settle(rt));
}

/// What is asked for is room for the worst case, so it may go past the limit; what was written may not.
bool Output::extend(Runtime& rt, char* at, std::size_t bytes) {
  at_ = at;
  if (written() > rt.limits.output_bytes) {
    fail_output_limit(rt);
    return false;
  }
  if (rt.failed()) return false;
  grow_to(rt, written() + bytes);
  return true;
}

void Output::close(Runtime& rt, char* at) {
  at_ = at;
  if (written() > rt.limits.output_bytes) fail_output_limit(rt);
  if (spans_ != nullptr) close_text();
}

// ---- text

/// Text that does not fit.
void Output::emit_long(Runtime& rt, const char* data, std::uint32_t size) {
  if (!grow_text(rt, size)) return;
  std::memcpy(at_, data, size);
  at_ += size;
}

/// Past the limit the failure is recorded; the VM sees it at its next check.
bool Output::grow_text(Runtime& rt, std::size_t size) {
  if (rt.failed()) return false;
  if (written() + size > rt.limits.output_bytes) {
    fail_output_limit(rt);
    return false;
  }
  grow_to(rt, written() + size);
  return true;
}

/// Room for `least` bytes. Twice as much as before, but no more than a prompt may have, if that is enough.
void Output::grow_to(const Runtime& rt, std::size_t least) {
  constexpr std::size_t kLeast = 4096;
  const std::size_t used = written();
  const std::size_t most = static_cast<std::size_t>(std::min<std::uint64_t>(rt.limits.output_bytes, SIZE_MAX));
  const std::size_t capacity = std::max(std::min(std::max(kLeast, capacity_ * 2), most), least);
  auto grown = std::make_unique_for_overwrite<char[]>(capacity);
  if (used != 0) std::memcpy(grown.get(), begin_, used);
  *text_ = std::move(grown);
  *text_capacity_ = capacity_ = capacity;
  begin_ = text_->get();
  at_ = begin_ + used;
  room_end_ = spans_ == nullptr ? begin_ + capacity_ : at_;
}

/// After the outermost capture, whose pieces are off the list.
void Output::open_text() {
  if (text_ == nullptr || spans_ != nullptr) return;
  room_end_ = begin_ + capacity_;
  makes_pieces_ = false;
}

void fail_output_limit(Runtime& rt) {
  rt.fail(ErrorCode::limit_output, "the prompt grew past " + std::to_string(rt.limits.output_bytes) + " bytes");
}

void Output::grow(Runtime& rt) {
  std::size_t size = pieces_.empty() ? 256 : pieces_.size() * 2;
  // Past the memory limit the failure is recorded; the VM sees it at its next check.
  if (!rt.reserve(size * sizeof(Piece)) && !pieces_.empty()) {
    count_ = 0;
    return;
  }
  pieces_.resize(size);
}

Value Output::end_capture(Runtime& rt, Mark mark, bool markup) {
  --nested_;
  if (mark.piece > count_) return Value::invalid();  // after a recorded failure only
  StringBuilder builder(rt);
  builder.append({pieces_.data() + mark.piece, count_ - mark.piece});
  count_ = mark.piece;
  bytes_ = mark.bytes - written();
  if (nested_ == 0) open_text();
  return builder.finish(markup);
}

}  // namespace parlance
