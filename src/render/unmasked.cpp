// Begin reading at note_unmasked.
#include "render/unmasked.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "conversation/learnt.h"
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

/// The message of the first text in a range that is of any; -1 if none is.
std::int32_t message_of(const Rendering& prompt, const TextRange& range) {
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.end <= range.begin; });
  while (span != spans.end() && span->begin < range.end && span->message < 0) ++span;
  return span == spans.end() || span->begin >= range.end ? -1 : span->message;
}

/// Whether each range begins with words of the next message of the assistant's, as in most prompts: then no word has to
/// be looked at.
bool has_range_for_each(const Conversation& conversation, const Rendering& prompt) {
  const std::span<const Value> messages = items(conversation.messages());
  auto behind = messages.begin();  // the first one behind those that have a range
  for (const TextRange& range : prompt.assistant()) {
    const std::int32_t number = message_of(prompt, range);
    if (number < 0) continue;
    const auto message = static_cast<std::size_t>(number);
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

/// Whether a message's text in a range is to be learnt. Nothing for others', as results that a template writes into the
/// turn of their calls: what stands around them goes on.
std::optional<bool> is_learnt_of(std::span<const Value> messages, std::int32_t number) {
  const auto place = static_cast<std::size_t>(number);
  if (number < 0 || place >= messages.size()) return {};
  const Value message = messages[place];
  if (is_unlearnt(message)) return false;
  const bool is_others = message.kind != Kind::dict || speaker_of(role_of(*message.dict)) == Speaker::other;
  return is_others ? std::nullopt : std::optional(true);
}

/// Adds of a range what is of messages that are to be learnt: one turn may hold several, as Ollama joins the messages
/// of a role in a row. Each goes on up to the next one's text, but has no part in the blanks that join them if that is
/// not learnt.
void add_learnt(std::span<const Value> messages, const Rendering& prompt, TextRange range,
                std::vector<TextRange>& learnt) {
  std::optional<bool> is_learnt;
  std::uint64_t text_end = range.begin;
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.end <= range.begin; });
  for (; span != spans.end() && span->begin < range.end; ++span) {
    if (span->message < 0) continue;
    const std::optional<bool> is_next = is_learnt_of(messages, span->message);
    if (is_learnt && is_next && is_next != is_learnt) {
      const bool is_joint = ascii::is_blank(prompt.text().substr(text_end, span->begin - text_end));
      if (*is_learnt) learnt.push_back({range.begin, is_joint ? text_end : span->begin});
      range.begin = span->begin;
    }
    if (is_next) is_learnt = is_next;
    text_end = span->end;
  }
  if (is_learnt.value_or(true)) learnt.push_back(range);
}

}  // namespace

void leave_out_unlearnt(const Conversation& conversation, Rendering& prompt) {
  if (!conversation.messages().is_sequence()) return;
  const std::span<const Value> messages = items(conversation.messages());
  if (std::ranges::none_of(messages, is_unlearnt)) return;
  std::vector<TextRange> learnt;
  for (const TextRange& range : prompt.assistant()) add_learnt(messages, prompt, range, learnt);
  fields_of(prompt).assistant = std::move(learnt);
}

void note_unmasked(const Conversation& conversation, Rendering& prompt) {
  if (!conversation.messages().is_sequence() || has_range_for_each(conversation, prompt)) return;
  const std::vector<Seen> seen = seen_words(conversation, prompt);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] != Seen::outside) continue;
    fields_of(prompt).notes.push_back("messages[" + std::to_string(i) + "]: " + kUnmasked);
  }
}

}  // namespace parlance
