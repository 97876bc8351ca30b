// Where a reply begins: what the prompt's end has opened, closed, or begun to write. Begin reading at
// ReplyGrammar::start.
#include <algorithm>

#include "grammar/reply_grammar.h"
#include "parlance/reply.h"

namespace parlance::grammar {
namespace {

/// Where the last of the marker's texts ends in the prompt; 0: it is not there.
std::size_t last_end(std::string_view prompt, const ReplyMarker& marker) {
  std::size_t end = 0;
  for (const std::string& text : marker.texts) {
    for (const std::string& variant : soft_variants(text)) {
      const std::size_t at = prompt.rfind(variant);
      if (at != std::string_view::npos) end = std::max(end, at + variant.size());
    }
  }
  return end;
}

/// How many of the prompt's last bytes the text begins with.
std::size_t overlap(std::string_view prompt, std::string_view text, bool whole_too) {
  std::size_t size = std::min(prompt.size(), whole_too ? text.size() : text.size() - 1);
  while (size > 0 && !prompt.ends_with(text.substr(0, size))) --size;
  return size;
}

/// What is left of the white space behind a close, of which the prompt has `written`; "" if it goes on otherwise.
std::string_view gap_left(const ReplyMarker& close, std::string_view written) {
  const std::string_view gap = close.after;
  return gap.starts_with(written) ? gap.substr(written.size()) : std::string_view();
}

}  // namespace

/// The longest beginning of something's opening that the prompt ends with.
std::string ReplyGrammar::inside_marker(std::string_view prompt) const {
  std::size_t size = 0;
  const auto offer = [&](std::string_view text, bool whole_too) {
    if (!text.empty()) size = std::max(size, overlap(prompt, text, whole_too));
  };
  if (format_.reasoning_open.exists()) offer(format_.reasoning_open.texts[0], false);
  if (format_.content_open.exists()) offer(format_.content_open.texts[0], false);
  for (const CallForm& form : format_.calls) offer(opening(form), true);
  return std::string(prompt.substr(prompt.size() - size));
}

ReplyGrammar::Start ReplyGrammar::start() const {
  const std::string_view prompt = opened_before_reply(data_.options.prompt, format_);
  Start start;
  const std::size_t reasoning_open = last_end(prompt, format_.reasoning_open);
  const std::size_t reasoning_close = last_end(prompt, format_.reasoning_close);
  const std::size_t content_open = last_end(prompt, format_.content_open);
  const std::size_t content_close = last_end(prompt, format_.content_close);
  const std::size_t last = std::max({reasoning_open, reasoning_close, content_open, content_close});
  if (last > 0) {
    start.reasoned = last != reasoning_open;
    start.region = last == reasoning_open  ? Region::reasoning
                   : last == content_open  ? Region::content
                   : last == content_close ? Region::after_content
                                           : Region::answer;
    if (last == reasoning_close && last == content_close) start.region = Region::answer;
  }
  // A model, or the budget of an engine, may close reasoning without the newlines of templates.
  if (last > 0 && last == reasoning_close) start.gap = gap_left(format_.reasoning_close, prompt.substr(last));
  if (last > 0 && last == content_close) start.gap = gap_left(format_.content_close, prompt.substr(last));
  for (const ReplyTurn& turn : format_.turns) {
    if (turn.role != "assistant" || turn.header_close.empty()) continue;
    const std::size_t end = last_end(prompt, turn.open);
    if (end > last && end == prompt.size()) start.region = Region::header, start.gap.clear();
  }
  if (start.region == Region::answer) start.inside = inside_marker(prompt.substr(last));
  return start;
}

}  // namespace parlance::grammar
