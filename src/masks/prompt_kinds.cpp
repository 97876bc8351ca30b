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

/// The request's text in a prompt, looked up from one byte to later ones.
class GivenText {
 public:
  GivenText(const Rendering& rendering, const Conversation& conversation)
      : spans_(rendering.spans()), conversation_(conversation) {}

  /// Where the first of it begins that is not before `from`, or else `end`. A role is of a turn's header.
  std::size_t next(std::size_t from, std::size_t end, bool but_roles = false) {
    Known& known = known_[but_roles];
    if (from < known.from || from > known.at) known = {from, first(from, but_roles)};
    return std::min(known.at, end);
  }

 private:
  struct Known {
    std::size_t from = 1, at = 0;  ///< there is none between them
  };

  std::size_t first(std::size_t from, bool but_roles) const {
    auto span = std::upper_bound(spans_.begin(), spans_.end(), from,
                                 [](std::size_t at, const Span& one) { return at < one.end; });
    for (; span != spans_.end(); ++span) {
      const bool is_role = but_roles && is_given(*span) && path_of_span(conversation_, *span).ends_with("].role");
      if (is_given(*span) && !is_role) return std::max<std::size_t>(span->begin, from);
    }
    return std::string_view::npos;
  }

  std::span<const Span> spans_;
  const Conversation& conversation_;
  Known known_[2];
};

/// One range of a prompt after the other.
class TurnReader {
 public:
  TurnReader(const Rendering& rendering, const Conversation& conversation, const CompiledReplyFormat& format,
             const ReplyTools& tools, const std::vector<std::string>& ends)
      : rendering_(rendering), conversation_(conversation), format_(format), given_(rendering, conversation) {
    options_.tools = tools;
    options_.ends = ends;
    for (const std::string& control : format.source().control) longest_ = std::max(longest_, control.size());
  }

  void read(std::size_t begin, std::size_t end, std::vector<KindRange>& ranges) {
    // Tags of a template may enclose the turn's header too.
    const std::size_t header = opening_size(rendering_.text().substr(begin, end - begin), format_.source());
    mark(begin, begin + header, ranges);
    begin += header;
    options_.prompt = std::string(opening_before(begin));
    while (begin < end) {
      const std::size_t over = read_one(begin, end, ranges);
      begin = next_reply(over, end);
      mark(over, begin, ranges);
    }
  }

 private:
  static void mark(std::size_t begin, std::size_t end, std::vector<KindRange>& ranges) {
    if (begin != end) ranges.push_back({begin, end, ReplyKind::marker});
  }

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

  /// Where the next reply of the range begins, behind one that is over, and what is before it: behind a further header,
  /// or at once if more was said. What the template else writes there is no reply.
  std::size_t next_reply(std::size_t over, std::size_t end) {
    const std::string_view rest = rendering_.text().substr(over, end - over);
    options_.prompt = std::string();
    if (rest.find_first_not_of(kSpace) == rest.npos) return end;
    const std::size_t said = given_.next(over, end, true);
    if (said == over) return over;
    const std::size_t opening = turn_opening(rest, 0, said - over, format_.source());
    if (opening == rest.npos) return said == end ? end : over;
    const std::size_t size = opening_size(rest.substr(opening), format_.source());
    options_.prompt = std::string(rest.substr(opening, size));
    return over + opening + size;
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
    return at;
  }

  struct Piece {
    std::string_view text;
    bool is_control = false;
  };

  /// The next piece to feed: a control token of the format that the template wrote, in however many parts, or what
  /// stands before one. What the request wrote is text, whatever it looks like.
  Piece piece_at(std::size_t begin, std::size_t end) {
    constexpr std::size_t kMost = 512;  // of what is fed again where a reply ends within it
    const std::size_t given = given_.next(begin, end);
    if (given == begin) {
      const std::string_view text =
          rendering_.text().substr(begin, std::min<std::size_t>(end, span_at(begin).end) - begin);
      return {text.substr(0, kMost), false};
    }
    const std::string_view text = rendering_.text().substr(begin, std::min(given - begin, kMost + longest_));
    std::size_t first = std::min(text.size(), kMost), size = 0;
    for (const std::string& control : format_.source().control) {
      const std::size_t at = text.substr(0, first + control.size()).find(control);
      if (at > first || (at == first && size >= control.size())) continue;
      first = at;
      size = control.size();
    }
    if (first == 0) return {text.substr(0, size), true};
    return {text.substr(0, first), false};
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
  GivenText given_;
  ReplyOptions options_;
  std::size_t longest_ = 0;  ///< of the format's control tokens
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
