// The end of a turn beside another's text. Begin reading at end_as_alone.
#include "render/turn_end.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "render/turn_header.h"

namespace parlance {
namespace {

bool is_text_of(const Span& span, std::int32_t message) {
  return span.message == message && (span.origin == Origin::input || span.origin == Origin::derived);
}

using Source = std::pair<const char*, std::uint32_t>;
Source source_of(const Span& span) { return {span.input, span.input_id}; }

/// The same text of a message in two prompts.
struct Twin {
  std::uint64_t here = 0, alone = 0;  ///< where it begins
  std::uint64_t size = 0;             ///< in the prompt; `alone` may have it otherwise
};

/// The last text before the turn's end that both prompts have; none of what is written once more, as names of calls are
/// with results.
std::optional<Twin> last_twin(const Rendering& prompt, TextRange turn, const Rendering& alone, std::int32_t message) {
  std::map<Source, std::uint64_t> first;  // those of `alone`, until they are seen in the prompt
  for (const Span& span : alone.spans())
    if (is_text_of(span, message)) first.try_emplace(source_of(span), span.begin);
  std::optional<Twin> last;
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.begin < turn.begin; });
  for (; span != spans.end() && span->begin < turn.end; ++span) {
    if (!is_text_of(*span, message)) continue;
    const auto known = first.find(source_of(*span));
    if (known == first.end()) continue;
    last = {span->begin, known->second, span->end - std::uint64_t{span->begin}};
    first.erase(known);
  }
  return last;
}

/// The last end of a span, counted from `from`, that is not behind `size`.
std::uint64_t last_joint(const Rendering& prompt, std::uint64_t from, std::uint64_t size) {
  const std::span<const Span> spans = prompt.spans();
  const auto behind =
      std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.end <= from + size; });
  return behind == spans.begin() ? 0 : std::max<std::uint64_t>(std::prev(behind)->end, from) - from;
}

/// How much both have in common from there on, in whole spans of one of them: different control tokens may begin with
/// the same bytes.
std::uint64_t common_size(const Rendering& prompt, Twin from, std::uint64_t end, const Rendering& alone) {
  const std::string_view here = prompt.text().substr(from.here, end - from.here);
  const std::uint64_t size = common_prefix(here, alone.text().substr(from.alone));
  return std::max(last_joint(prompt, from.here, size), last_joint(alone, from.alone, size));
}

/// What the template ends the prompt with, behind the last text of the message.
TextRange ending_of(const Rendering& alone, std::int32_t message) {
  const std::span<const Span> spans = alone.spans();
  const auto last =
      std::find_if(spans.rbegin(), spans.rend(), [&](const Span& span) { return is_text_of(span, message); });
  const std::uint64_t size = alone.text().size();
  return {last == spans.rend() ? size : last->end, size};
}

/// The first span that begins there or behind.
auto first_from(std::span<const Span> spans, std::uint64_t byte) {
  return std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.begin < byte; });
}

/// Whether the piece ends at `end`, and none of it is text of the message.
bool ends_with(const Rendering& prompt, TextRange turn, std::string_view piece, std::int32_t message) {
  if (turn.end - turn.begin < piece.size()) return false;
  const std::uint64_t begin = turn.end - piece.size();
  if (prompt.text().substr(begin, piece.size()) != piece) return false;
  const std::span<const Span> spans = prompt.spans();
  for (auto span = first_from(spans, turn.end); span != spans.begin() && std::prev(span)->end > begin; --span)
    if (is_text_of(*std::prev(span), message)) return false;
  return true;
}

/// Where the text of the message begins that ends at `end`; `end` if none does.
std::uint64_t text_before(const Rendering& prompt, std::uint64_t end, std::int32_t message) {
  const std::span<const Span> spans = prompt.spans();
  for (auto span = first_from(spans, end); span != spans.begin(); --span) {
    const Span& last = *std::prev(span);
    if (last.end != end || !is_text_of(last, message)) break;
    end = last.begin;
  }
  return end;
}

}  // namespace

/// Both prompts write the turn in the same way from its last common text on, up to where the results begin. Where the
/// template writes some of the turn behind the results, what ends the turn may stand before them all the same.
std::uint64_t end_as_alone(const Rendering& prompt, TextRange turn, const Rendering& alone, std::int32_t message) {
  const std::optional<Twin> twin = last_twin(prompt, turn, alone, message);
  const Twin from = twin.value_or(Twin{});
  const std::uint64_t size = std::max(common_size(prompt, from, turn.end, alone), from.size);
  const std::uint64_t end = from.here + size;
  if (end <= turn.begin) return turn.end;
  const TextRange ending = ending_of(alone, message);
  const std::string_view closing = alone.text().substr(ending.begin);
  const bool is_written = prompt.text().substr(end, turn.end - end).starts_with(closing) &&
                          closing.find_first_not_of(" \t\r\n") != closing.npos;
  return ending.begin > from.alone + size && is_written ? end + closing.size() : end;
}

Gap Gap::of(const Rendering& prompt, TextRange range, std::int32_t message) {
  Gap gap;
  std::uint64_t at = range.begin;
  const std::span<const Span> spans = prompt.spans();
  for (auto span = first_from(spans, at); span != spans.end() && span->begin < range.end; ++span) {
    if (!is_text_of(*span, message)) continue;
    const bool goes_on = !gap.pieces.empty() && span->begin == at;  // one text may have several spans
    if (!goes_on) gap.pieces.emplace_back(prompt.text().substr(at, span->begin - at));
    at = span->end;
  }
  gap.pieces.emplace_back(prompt.text().substr(at, range.end - at));
  return gap;
}

std::optional<std::uint64_t> Gap::begin_in(const Rendering& prompt, TextRange turn, std::int32_t message) const {
  for (std::size_t i = pieces.size(); i-- > 0;) {
    if (!ends_with(prompt, turn, pieces[i], message)) return {};
    turn.end -= pieces[i].size();
    if (i == 0) break;
    const std::uint64_t text = text_before(prompt, turn.end, message);
    if (text == turn.end || text < turn.begin) return {};
    turn.end = text;
  }
  return turn.end;
}

}  // namespace parlance
