// Normalise, cut, and find the places. Facts: SentencePiece 0.2.3, sentencepiece_processor.cc.
#include "tokenizers/sentencepiece_encoder.h"

#include "tokenizers/sentencepiece_normalizer.h"
#include "tokenizers/sentencepiece_segmenter.h"

namespace parlance {
namespace {

/// The tokens of the bytes of a character that no piece stands for.
void append_bytes_of(const SpSegmenter& segmenter, std::string_view bytes, std::size_t begin, std::size_t end,
                     std::vector<SpToken>& into) {
  for (const char c : bytes) into.push_back({segmenter.byte(static_cast<std::uint8_t>(c)), begin, begin});
  into.back().end = end;
}

}  // namespace

struct SpEncoder::State {
  explicit State(const SpModel& model) : normalizer(model) {}
  SpSegmenter segmenter;
  SpNormalizer normalizer;
};

SpEncoder::SpEncoder() = default;
SpEncoder::SpEncoder(SpEncoder&&) noexcept = default;
SpEncoder& SpEncoder::operator=(SpEncoder&&) noexcept = default;
SpEncoder::~SpEncoder() = default;

Result<void> SpEncoder::open(const SpModel& model, const SpChanges& changes, const std::string& path) {
  auto state = std::make_unique<State>(model);
  if (Result<void> opened = state->segmenter.open(model, changes, path); !opened) return opened;
  state_ = std::move(state);
  return {};
}

Result<void> SpEncoder::encode(std::string_view text, SpManner manner, std::vector<SpToken>& into,
                               std::vector<ByteSpan>& dropped) const {
  const SpSegmenter& segmenter = state_->segmenter;
  const Result<SpNormalized> normalized =
      state_->normalizer.normalize(text, segmenter.user_defined(manner.is_guarded), manner.has_dummy);
  if (!normalized) return normalized.error();
  dropped.insert(dropped.end(), normalized->dropped.begin(), normalized->dropped.end());
  std::vector<SpSegment> segments;
  segmenter.segment(normalized->text, manner.is_guarded, segments);
  const std::size_t first = into.size();
  bool after_unknown = false;
  std::size_t at = 0;
  for (const SpSegment& segment : segments) {
    if (segmenter.is_control(segment.id)) {
      into.resize(first);
      return Error(ErrorCode::unencodable,
                   "SentencePiece: the control piece " + std::to_string(segment.id) + " came of a text");
    }
    const std::size_t begin = normalized->places[at], end = normalized->places[at + segment.size];
    const bool is_unknown = segment.id == segmenter.unknown();
    if (is_unknown && segmenter.has_bytes()) {
      append_bytes_of(segmenter, std::string_view(normalized->text).substr(at, segment.size), begin, end, into);
    } else if (is_unknown && after_unknown) {
      into.back().end = end;
    } else {
      into.push_back({segment.id, begin, end});
    }
    after_unknown = is_unknown;
    at += segment.size;
  }
  return {};
}

}  // namespace parlance
