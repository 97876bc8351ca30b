// Output: growing the piece list, and turning its tail into a rope.
#include "engine/output.h"

#include <cstring>

namespace parlance {

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
  for (std::uint32_t i = mark.piece; i < count_; ++i) builder.append(Value::view({pieces_[i].data, pieces_[i].size}));
  count_ = mark.piece;
  bytes_ = mark.bytes;
  return builder.finish(markup);
}

}  // namespace parlance
