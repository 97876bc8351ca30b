// Begin reading at note_unmasked.
#include "render/unmasked.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "render/rendering.h"
#include "render/turn_header.h"

namespace parlance {
namespace {

constexpr const char* kUnmasked =
    "what the assistant said is in no mask, because the template does not show where it begins";

enum class Seen : std::uint8_t { nowhere, outside, masked };

bool is_blank(const Rendering& prompt, const Span& span) {
  return ascii::is_blank(prompt.text().substr(span.begin, span.end - span.begin));
}

/// Whether each range begins with words of the next message of the assistant's, as in most prompts: then no word has to
/// be looked at.
bool has_range_for_each(const Conversation& conversation, const Rendering& prompt) {
  const std::span<const Value> messages = items(conversation.messages());
  const std::span<const Span> spans = prompt.spans();
  auto span = spans.begin();
  auto behind = messages.begin();  // the first one behind those that have a range
  for (const TextRange& range : prompt.assistant()) {
    span = std::partition_point(span, spans.end(), [&](const Span& s) { return s.end <= range.begin; });
    while (span != spans.end() && span->begin < range.end && span->message < 0) ++span;
    if (span == spans.end() || span->begin >= range.end) continue;
    const auto message = static_cast<std::size_t>(span->message);
    if (message >= messages.size()) return false;
    const auto its = messages.begin() + static_cast<std::ptrdiff_t>(message);
    if (its >= behind && std::any_of(behind, its, is_assistant)) return false;
    behind = std::max(behind, its + 1);
  }
  return std::none_of(behind, messages.end(), is_assistant);
}

/// Where words of each message are; a message of others is never `outside`. A name of a call that a template
/// writes again with the result is outside, so one text in a range is enough.
std::vector<Seen> seen_words(const Conversation& conversation, const Rendering& prompt) {
  const std::span<const Value> messages = items(conversation.messages());
  std::vector<Seen> seen(messages.size());
  auto range = prompt.assistant().begin();
  const auto end = prompt.assistant().end();
  for (const Span& span : prompt.spans()) {
    const auto message = static_cast<std::size_t>(span.message);
    if (span.message < 0 || message >= messages.size() || seen[message] == Seen::masked) continue;
    while (range != end && range->end <= span.begin) ++range;
    const bool is_masked = range != end && range->begin < span.end;
    if (is_masked) {
      seen[message] = Seen::masked;
    } else if (seen[message] == Seen::nowhere && is_assistant(messages[message]) && !is_blank(prompt, span) &&
               !is_of_role(conversation, span, role_of(*messages[message].dict))) {
      seen[message] = Seen::outside;
    }
  }
  return seen;
}

}  // namespace

void note_unmasked(const Conversation& conversation, Rendering& prompt) {
  if (!conversation.messages().is_sequence() || has_range_for_each(conversation, prompt)) return;
  const std::vector<Seen> seen = seen_words(conversation, prompt);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] != Seen::outside) continue;
    fields_of(prompt).notes.push_back("messages[" + std::to_string(i) + "]: " + kUnmasked);
  }
}

}  // namespace parlance
