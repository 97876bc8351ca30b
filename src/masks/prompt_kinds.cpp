// Reads the assistant's turns of a prompt as replies. Begin reading at PromptKinds::ranges.
#include <algorithm>
#include <string>

#include "parlance/reply_kinds.h"
#include "probe/turn_opening.h"

namespace parlance {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

bool is_given(const Span& span) {
  return (span.origin == Origin::input || span.origin == Origin::derived) && !span.control;
}

/// The format with the markers that end a turn or its content as control tokens: they count where the template wrote
/// them.
CompiledReplyFormat with_control_ends(const CompiledReplyFormat& format, const std::vector<std::string>& ends) {
  ReplyFormat changed = format.source();
  const auto add = [&](std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
    text = text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
    if (text.empty() || std::find(changed.control.begin(), changed.control.end(), text) != changed.control.end())
      return;
    changed.control.emplace_back(text);
  };
  for (const ReplyMarker& end : changed.end)
    for (const std::string& text : end.texts) add(text);
  for (const std::string& text : changed.content_close.texts) add(text);
  for (const std::string& text : changed.last) add(text);
  for (const std::string& text : ends) add(text);
  Result<CompiledReplyFormat> compiled = CompiledReplyFormat::make(changed);
  return compiled ? *std::move(compiled) : format;
}

/// One range of a prompt after the other.
class TurnReader {
 public:
  TurnReader(const Rendering& rendering, const Conversation& conversation, const CompiledReplyFormat& format,
             const ReplyTools& tools, const std::vector<std::string>& ends)
      : rendering_(rendering), conversation_(conversation), format_(format) {
    options_.tools = tools;
    options_.ends = ends;
  }

  /// What comes behind a reply's end is a reply again, if it is more than blanks.
  void read(std::size_t begin, std::size_t end, std::vector<KindRange>& ranges) {
    // Tags of a template may enclose the turn's header too.
    const std::size_t header = opening_size(rendering_.text().substr(begin, end - begin), format_.source());
    if (header != 0) ranges.push_back({begin, begin + header, ReplyKind::marker});
    begin += header;
    options_.prompt = std::string(opening_before(begin));
    while (begin < end) {
      begin = read_one(begin, end, ranges);
      options_.prompt = std::string();
    }
  }

 private:
  /// The end of the prompt before a turn, from the turn's header on.
  std::string_view opening_before(std::size_t begin) const {
    const std::string_view text = rendering_.text().substr(0, begin);
    const std::size_t others = std::min(end_of_others(begin), begin);
    const std::size_t opening = turn_opening(text, others, begin, format_.source());
    return text.substr(opening == text.npos ? others : opening);
  }

  /// Where the last text of the request ends that stands before a byte.
  std::size_t end_of_others(std::size_t before) const {
    const std::span<const Span> spans = rendering_.spans();
    auto span = std::lower_bound(spans.begin(), spans.end(), before,
                                 [](const Span& one, std::size_t byte) { return one.begin < byte; });
    while (span != spans.begin()) {
      --span;
      if (is_given(*span) && !path_of_span(conversation_, *span).ends_with("].role")) return span->end;
    }
    return 0;
  }

  /// Gives where the reply is over: behind the marker that ends it, or at the end.
  std::size_t read_one(std::size_t begin, std::size_t end, std::vector<KindRange>& ranges) {
    std::size_t at = begin;
    bool is_over = false;
    ReplyKinds kinds(format_, begin);
    const auto take = [&](const ReplyEvent& event) {
      if (is_over) return;
      kinds.add(event);
      at += event.source.size();
      is_over = event.kind == ReplyEvent::Kind::end;
    };
    ReplyParser parser(format_, options_);
    for (std::size_t fed = begin; fed < end && !is_over;) {
      const Piece piece = piece_at(fed, end);
      parser.feed_token(piece.text, piece.is_control, take);
      fed += piece.text.size();
    }
    parser.finish(take);
    const std::vector<KindRange> found = kinds.ranges();
    ranges.insert(ranges.end(), found.begin(), found.end());
    const std::string_view rest = rendering_.text().substr(at, end - at);
    if (rest.find_first_not_of(kSpace) != rest.npos) return at;
    if (at < end) ranges.push_back({at, end, ReplyKind::marker});
    return end;
  }

  struct Piece {
    std::string_view text;
    bool is_control = false;
  };

  /// The next piece to feed: a control token of the format that the template wrote, or what stands before one. What the
  /// request wrote is text, whatever it looks like.
  Piece piece_at(std::size_t begin, std::size_t end) const {
    constexpr std::size_t kMost = 512;  // of what is fed again where a reply ends within it
    const Span& span = span_at(begin);
    const std::string_view text = rendering_.text().substr(begin, std::min<std::size_t>(end, span.end) - begin);
    if (is_given(span)) return {text.substr(0, kMost), false};
    Piece first{text, false};
    for (const std::string& control : format_.source().control) {
      const std::size_t at = text.substr(0, first.text.size() + control.size()).find(control);
      if (at == 0) return {text.substr(0, control.size()), true};
      if (at < first.text.size()) first.text = text.substr(0, at);
    }
    return first;
  }

  const Span& span_at(std::size_t byte) const {
    const std::span<const Span> spans = rendering_.spans();
    return *(std::upper_bound(spans.begin(), spans.end(), byte,
                              [](std::size_t at, const Span& span) { return at < span.begin; }) -
             1);
  }

  const Rendering& rendering_;
  const Conversation& conversation_;
  const CompiledReplyFormat& format_;
  ReplyOptions options_;
};

}  // namespace

PromptKinds::PromptKinds(const CompiledReplyFormat& format, std::vector<std::string> ends)
    : format_(with_control_ends(format, ends)), ends_(std::move(ends)) {}

std::vector<KindRange> PromptKinds::ranges(const Rendering& rendering, const Conversation& conversation,
                                           const ReplyTools& tools) const {
  std::vector<KindRange> ranges;
  if (rendering.spans().empty()) return ranges;
  TurnReader reader(rendering, conversation, format_, tools, ends_);
  for (const TextRange& range : rendering.assistant()) reader.read(range.begin, range.end, ranges);
  return ranges;
}

}  // namespace parlance
