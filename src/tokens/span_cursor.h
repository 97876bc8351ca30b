// SpanCursor: which spans of a prompt bytes are in, for bytes that come in order.
#pragma once
#include <span>

#include "parlance/render.h"
#include "parlance/tokenizer.h"

namespace parlance {

class SpanCursor {
 public:
  explicit SpanCursor(std::span<const Span> spans) : spans_(spans) {}

  /// The spans that share a byte with these; for no bytes, the one that the place is in. What came before is passed, so
  /// the next bytes may begin no earlier.
  std::span<const Span> of(ByteSpan bytes) {
    while (first_ < spans_.size() && spans_[first_].end <= bytes.begin) ++first_;
    std::size_t end = first_;
    while (end < spans_.size() && (spans_[end].begin < bytes.end || end == first_)) ++end;
    return spans_.subspan(first_, end - first_);
  }

 private:
  std::span<const Span> spans_;
  std::size_t first_ = 0;
};

}  // namespace parlance
