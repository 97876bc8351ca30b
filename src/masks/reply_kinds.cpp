// The kinds of a reply's bytes, by its events. Begin reading at ReplyKinds::add.
#include "parlance/reply_kinds.h"

#include <algorithm>
#include <array>
#include <utility>

namespace parlance {

// ---- names

namespace {
constexpr std::array<std::string_view, kReplyKinds> kNames = {"prompt", "content", "reasoning",
                                                              "calls",  "marker",  "stop"};
}  // namespace

std::span<const std::string_view> reply_kind_names() { return kNames; }
std::string_view name_of(ReplyKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::optional<ReplyKind> reply_kind_named(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<ReplyKind>(found - kNames.begin());
}

// ---- events

namespace {

constexpr std::string_view kBlank = " \t\r\n";

/// What an event's bytes are; `none` for markup, which is of what stands around it.
ReplyKind kind_of(ReplyEvent::Kind event) {
  using Event = ReplyEvent::Kind;
  switch (event) {
    case Event::content: return ReplyKind::content;
    case Event::reasoning: return ReplyKind::reasoning;
    case Event::call_begin:
    case Event::arguments:
    case Event::broken:
    case Event::call_end: return ReplyKind::calls;
    case Event::end: return ReplyKind::stop;
    default: return ReplyKind::none;
  }
}

/// Where the last of a marker's texts in `markup` ends, with the blanks behind it; 0: there is none.
std::size_t last_end(std::string_view markup, const ReplyMarker& marker) {
  std::size_t end = 0;
  for (const std::string& text : marker.texts) {
    const std::size_t at = text.empty() ? markup.npos : markup.rfind(text);
    if (at != markup.npos) end = std::max(end, at + text.size());
  }
  return end == 0 ? 0 : std::min(markup.find_first_not_of(kBlank, end), markup.size());
}

/// Where the first of a marker's texts begins, from `from` on; the markup's end: there is none.
std::size_t first_begin(std::string_view markup, const ReplyMarker& marker, std::size_t from) {
  std::size_t begin = markup.size();
  for (const std::string& text : marker.texts)
    if (!text.empty()) begin = std::min(begin, markup.find(text, from));
  return begin;
}

}  // namespace

void ReplyKinds::add(const ReplyEvent& event) {
  using Event = ReplyEvent::Kind;
  const ReplyKind kind = kind_of(event.kind);
  if (kind == ReplyKind::none && !in_call_) {
    markup_.append(event.source);
    return;
  }
  if (event.kind == Event::call_begin) in_call_ = true;
  settle(in_call_ ? ReplyKind::calls : kind);
  append(event.source.size(), in_call_ ? ReplyKind::calls : kind);
  if (event.kind == Event::call_end) in_call_ = false;
}

/// Of a reply that no marker of its own ends, what closes its content at last is where the model stops.
std::vector<KindRange> ReplyKinds::ranges() const {
  ReplyKinds all = *this;
  all.settle(ReplyKind::none);
  const std::vector<std::string>& closing = format_.source().content_close.texts;
  const bool has_closed = std::ranges::find(closing, markup_) != closing.end() && !all.ranges_.empty() &&
                          all.ranges_.back().kind == ReplyKind::marker &&
                          all.ranges_.back().end - all.ranges_.back().begin == markup_.size();
  const auto is_stop = [](const KindRange& one) { return one.kind == ReplyKind::stop; };
  if (has_closed && std::ranges::none_of(all.ranges_, is_stop)) all.ranges_.back().kind = ReplyKind::stop;
  return std::move(all.ranges_);
}

/// Gives the markup that waits its kinds, now that it is known what follows.
void ReplyKinds::settle(ReplyKind next) {
  if (markup_.empty()) return;
  const std::string markup = std::exchange(markup_, {});
  const ReplyFormat& format = format_.source();
  const ReplyKind before = ranges_.empty() ? ReplyKind::none : ranges_.back().kind;
  // Reasoning that is closed here was before the markup, or is empty and opened in it; likewise what is opened here.
  std::size_t closed = last_end(markup, format.reasoning_close);
  std::size_t opened = first_begin(markup, format.reasoning_open, 0);
  const bool is_empty = opened < closed;
  if (before != ReplyKind::reasoning && before != ReplyKind::none && !is_empty) closed = 0;
  opened = next == ReplyKind::reasoning ? first_begin(markup, format.reasoning_open, closed) : markup.size();
  append(closed, ReplyKind::reasoning);
  const bool is_of_calls = before == ReplyKind::calls || next == ReplyKind::calls;
  append(opened - closed, is_of_calls ? ReplyKind::calls : ReplyKind::marker);
  append(markup.size() - opened, ReplyKind::reasoning);
}

void ReplyKinds::append(std::size_t size, ReplyKind kind) {
  if (size == 0) return;
  if (!ranges_.empty() && ranges_.back().kind == kind) {
    ranges_.back().end += size;
  } else {
    ranges_.push_back({at_, at_ + size, kind});
  }
  at_ += size;
}

// ---- tokens

std::vector<ReplyKind> token_kinds(std::span<const PromptToken> tokens, std::span<const KindRange> ranges) {
  std::vector<ReplyKind> kinds;
  kinds.reserve(tokens.size());
  auto range = ranges.begin();
  for (const PromptToken& token : tokens) {
    while (range != ranges.end() && range->end <= token.bytes.begin) ++range;
    const bool is_in = token.trained && range != ranges.end() && range->begin < token.bytes.end;
    kinds.push_back(is_in ? range->kind : ReplyKind::none);
  }
  return kinds;
}

void train_only(PromptTokens& tokens, std::span<const KindRange> ranges, std::span<const ReplyKind> kinds) {
  const std::vector<ReplyKind> found = token_kinds(tokens.tokens, ranges);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool is_wanted = std::find(kinds.begin(), kinds.end(), found[i]) != kinds.end();
    tokens.tokens[i].trained = tokens.tokens[i].trained && is_wanted;
  }
}

}  // namespace parlance
