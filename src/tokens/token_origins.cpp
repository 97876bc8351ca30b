// Token origins: a cursor over the spans and one over the assistant's ranges follow the tokens.
#include "tokens/token_origins.h"

#include <algorithm>

#include "tokens/span_cursor.h"

namespace parlance {
namespace {

/// The span that most of a token's bytes are in.
class MainSpans {
 public:
  explicit MainSpans(std::span<const Span> spans) : all_(spans), cursor_(spans) {}

  const Span* of(ByteSpan bytes) {
    // A tokenizer that cannot tell its tokens' places gives all of a run the same bytes.
    if (last_ != nullptr && bytes.begin == asked_.begin && bytes.end == asked_.end) return last_;
    asked_ = bytes;
    return last_ = find(bytes);
  }

 private:
  const Span* find(ByteSpan bytes) {
    const Span* best = all_.empty() ? nullptr : &all_.back();
    std::uint32_t most = 0;
    for (const Span& span : cursor_.of(bytes)) {
      const std::uint32_t begin = std::max(span.begin, bytes.begin), end = std::min(span.end, bytes.end);
      const std::uint32_t shared = end > begin ? end - begin : 0;
      if (most != 0 && shared <= most) continue;
      best = &span;
      most = shared;
    }
    return best;
  }

  std::span<const Span> all_;
  SpanCursor cursor_;
  ByteSpan asked_;
  const Span* last_ = nullptr;
};

class Ranges {
 public:
  explicit Ranges(const std::vector<TextRange>& ranges) : ranges_(ranges) {}
  bool touch(ByteSpan bytes) {
    while (at_ < ranges_.size() && ranges_[at_].end <= bytes.begin) ++at_;
    if (at_ == ranges_.size()) return false;
    const TextRange& range = ranges_[at_];
    return bytes.begin == bytes.end ? range.begin <= bytes.begin : range.begin < bytes.end;
  }

 private:
  const std::vector<TextRange>& ranges_;
  std::size_t at_ = 0;
};

}  // namespace

void fill_tokens(const Rendering& rendering, const ControlIds& control, const std::vector<EncodedToken>& encoded,
                 PromptTokens& into) {
  into.tokens.reserve(encoded.size());
  MainSpans spans(rendering.spans());
  Ranges assistant(rendering.assistant());
  for (const EncodedToken& token : encoded) {
    const Span* span = spans.of(token.bytes);
    into.tokens.push_back({.id = token.id,
                           .bytes = token.bytes,
                           .origin = span == nullptr ? Origin::computed : span->origin,
                           .control = control.is_control(token),
                           .trained = assistant.touch(token.bytes),
                           .message = span == nullptr ? -1 : span->message});
  }
}

}  // namespace parlance
