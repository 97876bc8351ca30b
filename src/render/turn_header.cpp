// Headers of turns: from two prompts, and in a third. Begin reading at header_end.
#include "render/turn_header.h"

#include <algorithm>
#include <iterator>

#include "render/rendering.h"

namespace parlance {

std::size_t common_prefix(std::string_view a, std::string_view b) {
  std::size_t n = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin());
}

std::string_view role_of(const DictObject& message) {
  const DictEntry* role = find_key(message, "role");
  return role != nullptr && role->value.is_leaf() ? leaf_text(role->value) : std::string_view();
}

std::string_view role_before(std::span<const Value> messages, std::int32_t message) {
  const Value before = message > 0 ? messages[static_cast<std::size_t>(message) - 1] : Value{};
  return before.kind == Kind::dict ? role_of(*before.dict) : std::string_view();
}

constexpr std::string_view kAssistant = "assistant";

namespace {

/// Asked of each message: few roles have the length of another.
bool is_of_others(std::string_view role) {
  switch (role.size()) {
    case 4: return role == "user" || role == "tool";
    case 6: return role == "system";
    case 7: return role == "ipython";
    case 8: return role == "function";
    case 9: return role == "developer";
    case 11: return role == "environment" || role == "observation";
    default: return false;
  }
}

}  // namespace

// Roles that nobody knows may be an assistant's under another name; what the template writes before their turns
// decides.
Speaker speaker_of(std::string_view role) {
  if (role == kAssistant) return Speaker::assistant;
  return is_of_others(role) ? Speaker::other : Speaker::unknown;
}

bool is_assistant(Value message) { return message.kind == Kind::dict && role_of(*message.dict) == kAssistant; }

std::size_t Header::match(std::string_view turn) const {
  std::size_t shared = common_prefix(turn, text);
  std::size_t best = 0;
  for (std::size_t joint : joints) {
    if (joint <= shared) best = joint;
  }
  // One literal may hold the header and the opening of what comes after it: the header is a line then.
  std::size_t line = turn.substr(0, shared).rfind('\n');
  return best == 0 && line != turn.npos ? line + 1 : best;
}

Header difference(const Rendering& with, const Rendering& without) {
  std::size_t shared = common_prefix(with.text(), without.text());
  Header header;
  // Whole spans only: both prompts may go on with the same first byte of different tokens.
  for (const Span& span : with.spans()) {
    if (span.end <= shared) continue;
    if (header.text.empty()) shared = span.begin;
    header.text = with.text().substr(shared);
    header.joints.push_back(span.end - shared);
  }
  return header;
}

namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

/// A generation prompt may open a thought in the literal that is the header, and history may be without it: how much
/// of the turn, up to where one of its spans ends, both have in common before the turn's own text.
std::size_t shared_spans(const Header& header, const Rendering& prompt, const jinja::Turn& turn, std::size_t own) {
  const std::string_view before_own = prompt.text().substr(turn.begin, own - turn.begin);
  const std::size_t shared = turn.begin + common_prefix(before_own, header.text);
  const std::span<const Span> spans = prompt.spans();
  const auto behind = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.end <= shared; });
  return behind == spans.begin() || std::prev(behind)->end <= turn.begin ? 0 : std::prev(behind)->end - turn.begin;
}

}  // namespace

Header own_behind(const Rendering& prompt, std::uint64_t byte) {
  Header own;
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [byte](const Span& s) { return s.end <= byte; });
  for (; span != spans.end() && span->message < 0; ++span) own.joints.push_back(span->end - byte);
  if (!own.joints.empty()) own.text = prompt.text().substr(byte, own.joints.back());
  return own;
}

Header in_common(Header a, const Header& b) {
  const std::size_t same = common_prefix(a.text, b.text);
  a.joints.insert(a.joints.end(), b.joints.begin(), b.joints.end());
  std::erase_if(a.joints, [same](std::size_t joint) { return joint > same; });
  const auto last = std::max_element(a.joints.begin(), a.joints.end());
  a.text.resize(last == a.joints.end() ? 0 : *last);
  return a;
}

bool is_of_role(const Conversation& conversation, const Span& span, std::string_view role) {
  const auto lies_in = [&](std::string_view text) {
    const auto at = reinterpret_cast<std::uintptr_t>(span.input), begin = reinterpret_cast<std::uintptr_t>(text.data());
    return span.input != nullptr && at - begin < text.size();
  };
  return lies_in(role) || path_of_span(conversation, span).ends_with("].role");
}

std::size_t own_text(const Conversation& conversation, const Rendering& prompt, std::int32_t message,
                     const jinja::Turn& turn) {
  const std::span<const Span> spans = prompt.spans();
  const std::string_view role = role_of(*turn.item);
  auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.begin < turn.begin; });
  for (; span != spans.end() && span->begin < turn.end; ++span) {
    if (span->message == message && !is_of_role(conversation, *span, role)) return span->begin;
  }
  return turn.end;
}

std::size_t header_end(const Header& header, const Rendering& prompt, const jinja::Turn& turn, std::size_t own) {
  const std::string_view text = prompt.text().substr(turn.begin, turn.end - turn.begin);
  // Something may stand before the header: a BOS token that the first turn brings.
  std::size_t at = header.text.empty() ? text.npos : text.substr(0, own - turn.begin).find(header.text);
  std::size_t match = at == text.npos ? header.match(text) : at + header.text.size();
  if (match == 0) match = shared_spans(header, prompt, turn, own);
  const std::size_t end = turn.begin + match;
  // A template may write white space before the text where its generation prompt leaves it to the model.
  std::size_t blank = end;
  while (blank < own && is_space(prompt.text()[blank])) ++blank;
  return blank == own && end != turn.begin ? own : end;
}

Header ending(const Rendering& with, std::string_view turn) {
  const std::span<const Span> spans = with.spans();
  std::size_t from = 0, longest = 0;
  Header header;
  for (const Span& span : spans) from = span.message >= 0 ? span.end : from;
  for (std::size_t at = from; at < with.text().size(); ++at) {
    const std::size_t shared = common_prefix(with.text().substr(at), turn);
    if (shared <= longest) continue;
    longest = shared;
    header = {std::string(with.text().substr(at)), {}};
    for (const Span& span : spans) {
      if (span.end > at) header.joints.push_back(span.end - at);
    }
  }
  return header;
}

/// A turn as the template's loop notes it begins where the loop's body does; the header may lie before that, or behind.
/// So the distance has a sign.
Lead Lead::of(std::string_view prompt, const jinja::Turn& turn, std::size_t end, std::string_view tail) {
  const std::size_t first = std::min<std::size_t>(end, turn.begin);
  Lead lead{static_cast<std::int64_t>(end) - static_cast<std::int64_t>(turn.begin), {}, std::string(tail)};
  lead.between = prompt.substr(first, std::max<std::size_t>(end, turn.begin) - first);
  return lead;
}

std::optional<std::uint64_t> Lead::end_in(std::string_view prompt, const jinja::Turn& turn) const {
  const std::int64_t end = static_cast<std::int64_t>(turn.begin) + distance;
  if (end < 0 || end > static_cast<std::int64_t>(turn.end)) return {};
  const auto first = static_cast<std::size_t>(std::min(end, static_cast<std::int64_t>(turn.begin)));
  const bool same =
      prompt.substr(first).starts_with(between) && prompt.substr(0, static_cast<std::size_t>(end)).ends_with(tail);
  return same ? std::optional(static_cast<std::uint64_t>(end)) : std::nullopt;
}

std::optional<std::uint64_t> behind_lead(const Situation& situation, std::string_view prompt, const jinja::Turn& turn) {
  for (const Lead& lead : situation.leads) {
    if (const std::optional<std::uint64_t> end = lead.end_in(prompt, turn)) return end;
  }
  return {};
}

}  // namespace parlance
