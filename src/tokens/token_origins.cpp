// Token origins: a cursor over the spans and one over the assistant's ranges follow the tokens.
#include "tokens/token_origins.h"

namespace parlance {
namespace {

/// Ordered ranges, and which of them a token is in. Tokens may overlap a little (parts of one character), so the cursor
/// only passes what ends before a token begins.
class Spans {
 public:
  explicit Spans(std::span<const Span> spans) : spans_(spans) {}

  /// The span that most of these bytes are in; for no bytes, the one that the place is in.
  const Span* most_of(ByteSpan bytes) {
    // A tokenizer that cannot tell its tokens' places gives all of a run the same bytes.
    if (last_ != nullptr && bytes.begin == asked_.begin && bytes.end == asked_.end) return last_;
    asked_ = bytes;
    return last_ = find_most(bytes);
  }

 private:
  const Span* find_most(ByteSpan bytes) {
    while (at_ < spans_.size() && spans_[at_].end <= bytes.begin) ++at_;
    if (at_ == spans_.size()) return spans_.empty() ? nullptr : &spans_.back();
    const Span* best = &spans_[at_];
    std::uint32_t most = std::min(best->end, bytes.end) - std::min(best->end, std::max(best->begin, bytes.begin));
    for (std::size_t i = at_ + 1; i < spans_.size() && spans_[i].begin < bytes.end; ++i) {
      const std::uint32_t shared = std::min(spans_[i].end, bytes.end) - spans_[i].begin;
      if (shared <= most) continue;
      best = &spans_[i];
      most = shared;
    }
    return best;
  }

  std::span<const Span> spans_;
  std::size_t at_ = 0;
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
  into.ids.reserve(encoded.size());
  into.tokens.reserve(encoded.size());
  Spans spans(rendering.spans());
  Ranges assistant(rendering.assistant());
  for (const EncodedToken& token : encoded) {
    const Span* span = spans.most_of(token.bytes);
    into.ids.push_back(token.id);
    into.tokens.push_back({.id = token.id,
                           .bytes = token.bytes,
                           .origin = span == nullptr ? Origin::computed : span->origin,
                           .control = control.is_control(token),
                           .trained = assistant.touch(token.bytes),
                           .message = span == nullptr ? -1 : span->message});
  }
}

}  // namespace parlance
