// Beginnings: one render for each turn, and a few more where history is written otherwise. Begin reading at of().
#include "render/beginnings.h"

#include <algorithm>
#include <utility>

#include "render/rendering.h"
#include "render/turn_end.h"

namespace parlance {
Beginnings::Beginnings(const Conversation& conversation, const BeginningRenderer& render, const Rendering& prompt)
    : conversation_(conversation),
      render_(render),
      prompt_(prompt),
      budget_(kTimes * prompt.text().size() + kAtLeast) {}

/// The exact answer costs a render of all before the turn, which is the square of the chat's length. A budget bounds
/// it; once that is spent, what was seen in the same situation answers.
std::uint64_t Beginnings::of(const jinja::Turn& turn, std::int32_t message, bool is_assistant) {
  Situation& situation = situation_before(message);
  std::optional<std::uint64_t> begin;
  if (budget_ > 0) {
    begin = remember(situation, turn, ask(turn, message));
  } else {
    begin = behind_lead(situation, prompt_.text(), turn);
  }
  if (begin && (is_assistant || *begin > turn.begin)) return *begin;
  const std::string_view text = text_of(turn);
  // Where the role does not tell, the whole header shows whose turn it is.
  const Header& header = situation.header;
  if (!is_assistant && (header.text.empty() || !text.starts_with(header.text))) return turn.end;
  return header_end(header, prompt_, turn, own_text(conversation_, prompt_, message, turn));
}

/// For templates that do not loop over the messages: what the prompt has with the message and lacks without it. Only
/// where the shorter prompts are beginnings of the whole one is that exact. A generation prompt may go on otherwise
/// than the turn does (with an opened thought where the turn has a call): then their common header is no part of it.
std::optional<TextRange> Beginnings::without_turn(std::uint32_t message) {
  Rendering before, behind, without;
  if (!render(message, true, before) || !render(message + 1, false, behind)) return {};
  const std::string_view text = prompt_.text();
  const std::size_t end = behind.text().size();
  if (!text.starts_with(behind.text())) return {};
  std::size_t begin = before.text().size();
  if (!text.starts_with(before.text())) {
    if (!render(message, false, without) || !text.starts_with(without.text()) || end < without.text().size()) return {};
    begin = without.text().size();
    const std::size_t header = difference(before, without).match(text.substr(begin, end - begin));
    if (header == 0) return {};
    begin += header;
  }
  return begin < end ? std::optional(TextRange{begin, end}) : std::nullopt;
}

/// What no turn before was like is asked for a few times more, as calls that first come late in a conversation.
std::uint64_t Beginnings::end_before(std::uint64_t other, std::uint64_t begin, std::int32_t message) {
  const TextRange turn = {begin, other};
  const std::optional<std::uint64_t> told = behind_gap(turn, message);
  if (budget_ == 0 && (told || more_ends_++ >= kMoreEnds)) return told.value_or(other);
  const std::uint64_t end = ask_end(turn, message).value_or(other);
  if (end < other && told != end && gaps_.size() < kMostGaps) gaps_.push_back(Gap::of(prompt_, {end, other}, message));
  return end;
}

std::optional<std::uint64_t> Beginnings::ask_end(TextRange turn, std::int32_t message) {
  Rendering alone;
  if (!render(static_cast<std::uint32_t>(message) + 1, false, alone)) return {};
  const std::size_t size = alone.text().size();
  if (size > turn.begin && size <= turn.end && prompt_.text().starts_with(alone.text())) return size;
  return end_as_alone(prompt_, turn, alone, message);
}

/// Of the gaps that fit, by the longest one.
std::optional<std::uint64_t> Beginnings::behind_gap(TextRange turn, std::int32_t message) const {
  std::optional<std::uint64_t> end;
  for (const Gap& gap : gaps_) {
    const std::optional<std::uint64_t> here = gap.begin_in(prompt_, turn, message);
    if (here && (!end || *here < *end)) end = here;
  }
  return end;
}

std::string_view Beginnings::text_of(const jinja::Turn& turn) const {
  return prompt_.text().substr(turn.begin, turn.end - turn.begin);
}

Situation& Beginnings::situation_before(std::int32_t message) {
  const std::string_view role = role_before(messages(), message);
  const auto found =
      std::find_if(situations_.begin(), situations_.end(), [&](const Situation& s) { return s.role == role; });
  if (found != situations_.end()) return *found;
  if (situations_.size() < kMostRoles) situations_.push_back({std::string(role)});
  return situations_.back();
}

bool Beginnings::render(std::uint32_t count, bool generation_prompt, Rendering& into) {
  const bool done = render_(messages().first(count), generation_prompt, into);
  budget_ -= std::min(budget_, done ? into.text().size() : kAtLeast / 64);
  return done;
}

/// Behind an assistant many templates write no generation prompt; what the next turn of one begins with is a header
/// all the same.
std::uint64_t Beginnings::behind_header(std::uint64_t begin, const jinja::Turn& turn, std::int32_t message) {
  const bool follows_other = message > 0 && !is_assistant(messages()[static_cast<std::size_t>(message) - 1]);
  if (follows_other) return begin;
  const std::string& header = alone().text;
  const bool is_blank = header.find_first_not_of(" \n\t") == header.npos;
  if (is_blank || !prompt_.text().substr(begin, turn.end - begin).starts_with(header)) return begin;
  Rendering with, without;
  const auto count = static_cast<std::uint32_t>(message);
  const bool adds_none = render(count, true, with) && render(count, false, without) && with.text() == without.text();
  return adds_none ? begin + header.size() : begin;
}

/// The prompt for an answer to the messages before ends where the assistant begins to write. If the whole prompt begins
/// with it, that place is exact. Else the template writes history otherwise, and only the header can be looked for.
Beginnings::Answer Beginnings::ask(const jinja::Turn& turn, std::int32_t message) {
  Rendering before;
  const auto count = static_cast<std::uint32_t>(message);
  const bool done = render(count, true, before);
  const std::size_t end = before.text().size();
  if (done && prompt_.text().starts_with(before.text()) && end <= turn.end) {
    const std::span<const Span> spans = before.spans();
    const bool has_tail = !spans.empty() && spans.back().origin == Origin::literal;
    const std::size_t tail = has_tail ? spans.back().begin : end;
    const std::uint64_t begin = behind_header(end, turn, message);
    return {begin, Lead::of(prompt_.text(), turn, begin, prompt_.text().substr(tail, begin - tail))};
  }
  Rendering without;
  Answer answer;
  if (done && render(count, false, without)) answer.header = difference(before, without);
  const std::string_view text = text_of(turn);
  if (answer.header.text.empty() && done) answer.header = ending(before, text), answer.is_plain = false;
  const bool is_told = answer.header.match(text) != 0 || (!answer.header.text.empty() && alone().match(text) == 0);
  if (!is_told) answer.header = alone(), answer.is_plain = false;
  return answer;
}

/// A template may refuse a conversation that ends there, or write no generation prompt behind an assistant. Then a
/// word of a user's shows what it writes.
const Header& Beginnings::alone() {
  if (alone_) return *alone_;
  alone_.emplace();
  DictEntry members[] = {{Value::view("role"), Value::view("user")}, {Value::view("content"), Value::view("Hi")}};
  const DictObject dict{.size = 2, .origin = 0, .entries = members, .index = nullptr, .index_mask = 0, .capacity = 2};
  const Value word = Value::of_dict(&dict, 0);
  Rendering with, without;
  if (render_({&word, 1}, true, with) && render_({&word, 1}, false, without)) *alone_ = difference(with, without);
  return *alone_;
}

std::optional<std::uint64_t> Beginnings::remember(Situation& situation, const jinja::Turn& turn, Answer answer) {
  constexpr std::size_t kMost = 16;
  if (!answer.begin) {
    situation.header = std::move(answer.header);
  } else if (situation.leads.size() < kMost && behind_lead(situation, prompt_.text(), turn) != answer.begin) {
    situation.leads.push_back(std::move(answer.lead));
  }
  return answer.begin;
}

}  // namespace parlance
