// The assistant's ranges: from tags where there are some, else turn by turn. Start at fill_from_turns.
#include "render/assistant.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "render/rendering.h"
#include "value/dict.h"

namespace parlance {
namespace {

std::size_t common_prefix(std::string_view a, std::string_view b) {
  std::size_t n = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin()).first - a.begin());
}

std::string_view role_of(const DictObject& message) {
  const DictEntry* role = find_key(message, "role");
  return role != nullptr && role->value.is_leaf() ? leaf_text(role->value) : std::string_view();
}

enum class Speaker { assistant, other, unknown };

/// Some call the assistant otherwise (model, bot).
Speaker speaker_of(const DictObject& message) {
  static constexpr std::string_view kOthers[] = {"system",   "developer", "user",        "tool",
                                                 "function", "ipython",   "environment", "observation"};
  const std::string_view role = role_of(message);
  if (role == "assistant") return Speaker::assistant;
  return std::find(std::begin(kOthers), std::end(kOthers), role) != std::end(kOthers) ? Speaker::other
                                                                                      : Speaker::unknown;
}

/// What the template writes to make the model speak.
struct Header {
  std::string text;
  std::vector<std::size_t> joints;  ///< where one of its spans ends and the next begins; the end of the text too

  /// The longest part of `text`, up to a joint, that `turn` begins with.
  std::size_t match(std::string_view turn) const {
    std::size_t shared = common_prefix(turn, text);
    std::size_t best = 0;
    for (std::size_t joint : joints) {
      if (joint <= shared) best = joint;
    }
    // One literal may hold the header and the opening of what comes after it: the header is a line then.
    std::size_t line = turn.substr(0, shared).rfind('\n');
    return best == 0 && line != turn.npos ? line + 1 : best;
  }
};

/// What the prompt `with` a generation prompt has that the one `without` does not.
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

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

/// Where the turn's own text begins: at the first byte that came from its message, its role apart.
std::size_t own_text(const Conversation& conversation, const Rendering& prompt, std::int32_t message,
                     const jinja::Turn& turn) {
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.begin < turn.begin; });
  for (; span != spans.end() && span->begin < turn.end; ++span) {
    if (span->message == message && !path_of_span(conversation, *span).ends_with("].role")) return span->begin;
  }
  return turn.end;
}

/// The byte of the prompt where the header of a turn ends.
std::size_t header_end(const Header& header, std::string_view prompt, const jinja::Turn& turn, std::size_t own) {
  std::string_view text = prompt.substr(turn.begin, turn.end - turn.begin);
  // Something may stand before the header: a BOS token that the first turn brings.
  std::size_t at = header.text.empty() ? text.npos : text.substr(0, own - turn.begin).find(header.text);
  std::size_t end = turn.begin + (at == text.npos ? header.match(text) : at + header.text.size());
  // A template may write white space before the text where its generation prompt leaves it to the model.
  std::size_t blank = end;
  while (blank < own && is_space(prompt[blank])) ++blank;
  return blank == own && end != turn.begin ? own : end;
}

/// The same of a template that writes its generation prompt whether it is asked to or not: of what stands behind the
/// last message's bytes the part that the turn begins with.
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

/// How far from a turn's begin the prompt for it ended, and by what that can be told of another turn.
struct Lead {
  std::int64_t distance = 0;  ///< below 0: before the turn's begin
  std::string between;        ///< the text between the two places
  std::string tail;           ///< the template's own text that the prompt ended with

  /// Where the prompt for this turn ended, if the texts there are the same.
  std::optional<std::uint64_t> end_in(std::string_view prompt, const jinja::Turn& turn) const {
    const std::int64_t end = static_cast<std::int64_t>(turn.begin) + distance;
    if (end < 0 || end > static_cast<std::int64_t>(turn.end)) return {};
    const auto first = static_cast<std::size_t>(std::min(end, static_cast<std::int64_t>(turn.begin)));
    const bool same =
        prompt.substr(first).starts_with(between) && prompt.substr(0, static_cast<std::size_t>(end)).ends_with(tail);
    return same ? std::optional(static_cast<std::uint64_t>(end)) : std::nullopt;
  }
};

/// Where turns begin that the assistant wrote. The template is asked for each turn, with the messages before it and a
/// generation prompt, until that has cost some times the prompt; what it has said of turns behind a message of the same
/// role has to do for the others.
class Beginnings {
 public:
  Beginnings(const Conversation& conversation, const BeginningRenderer& render, const Rendering& prompt)
      : conversation_(conversation),
        render_(render),
        prompt_(prompt),
        budget_(kTimes * prompt.text().size() + kAtLeast) {}

  /// The first byte that the assistant wrote in the turn of this message. The turn's end if nothing shows that it is an
  /// assistant's.
  std::uint64_t of(const jinja::Turn& turn, std::int32_t message, bool is_assistant) {
    Situation& situation = situation_before(message);
    std::optional<std::uint64_t> begin;
    if (budget_ > 0) {
      begin = ask(situation, turn, message);
    } else {
      begin = behind_lead(situation, turn);
    }
    if (begin && (is_assistant || *begin > turn.begin)) return behind_header(*begin, turn, message);
    const std::string_view text = text_of(turn);
    // Where the role does not tell, the whole header shows whose turn it is.
    const Header& header = situation.header;
    if (!is_assistant && (header.text.empty() || !text.starts_with(header.text))) return turn.end;
    return header_end(header, prompt_.text(), turn, own_text(conversation_, prompt_, message, turn));
  }

  bool is_assistant_at(std::size_t message) const {
    const Value value = messages()[message];
    return value.kind == Kind::dict && speaker_of(*value.dict) == Speaker::assistant;
  }

  /// Is no more asked?
  bool is_spent() const { return budget_ == 0; }

  /// What the assistant wrote of a message that has no turn, because the template does not go through the messages in a
  /// loop, or not to the last one.
  std::optional<TextRange> without_turn(std::uint32_t message) {
    Rendering before, behind;
    if (!render(message, true, before) || !render(message + 1, false, behind)) return {};
    const std::size_t begin = before.text().size(), end = behind.text().size();
    const bool is_exact = prompt_.text().starts_with(before.text()) && prompt_.text().starts_with(behind.text());
    return is_exact && begin < end ? std::optional(TextRange{begin, end}) : std::nullopt;
  }

 private:
  static constexpr std::size_t kTimes = 8, kAtLeast = std::size_t{1} << 18;  // bytes
  static constexpr std::size_t kMostRoles = 16;                              // roles are a request's

  /// What is known of turns behind a message of one role.
  struct Situation {
    std::string role;
    std::vector<Lead> leads{};
    Header header{};  ///< where the prompt does not begin with what ends in the generation prompt
  };

  std::span<const Value> messages() const { return items(conversation_.messages()); }

  std::string_view text_of(const jinja::Turn& turn) const {
    return prompt_.text().substr(turn.begin, turn.end - turn.begin);
  }

  Situation& situation_before(std::int32_t message) {
    const Value before = message > 0 ? messages()[static_cast<std::size_t>(message) - 1] : Value{};
    const std::string_view role = before.kind == Kind::dict ? role_of(*before.dict) : std::string_view();
    const auto found =
        std::find_if(situations_.begin(), situations_.end(), [&](const Situation& s) { return s.role == role; });
    if (found != situations_.end()) return *found;
    if (situations_.size() < kMostRoles) situations_.push_back({std::string(role)});
    return situations_.back();
  }

  bool render(std::uint32_t count, bool generation_prompt, Rendering& into) {
    const bool done = render_(messages().first(count), generation_prompt, into);
    budget_ -= std::min(budget_, done ? into.text().size() : kAtLeast / 64);
    return done;
  }

  std::optional<std::uint64_t> behind_lead(const Situation& situation, const jinja::Turn& turn) const {
    for (const Lead& lead : situation.leads) {
      if (const std::optional<std::uint64_t> end = lead.end_in(prompt_.text(), turn)) return end;
    }
    return {};
  }

  /// Behind an assistant many templates write no generation prompt; what the next turn of one begins with is a header
  /// all the same.
  std::uint64_t behind_header(std::uint64_t begin, const jinja::Turn& turn, std::int32_t message) {
    const std::string& header = alone().text;
    const bool is_blank = header.find_first_not_of(" \n\t") == header.npos;
    const bool follows_other = message > 0 && !is_assistant_at(static_cast<std::size_t>(message) - 1);
    if (follows_other || is_blank || !prompt_.text().substr(begin, turn.end - begin).starts_with(header)) return begin;
    Rendering with, without;
    const auto count = static_cast<std::uint32_t>(message);
    const bool adds_none = render(count, true, with) && render(count, false, without) && with.text() == without.text();
    return adds_none ? begin + header.size() : begin;
  }

  /// Where the generation prompt for this turn ends, if the prompt begins with what ends in it. Else what is its
  /// header.
  std::optional<std::uint64_t> ask(Situation& situation, const jinja::Turn& turn, std::int32_t message) {
    Rendering before;
    const auto count = static_cast<std::uint32_t>(message);
    const bool done = render(count, true, before);
    const std::size_t end = before.text().size();
    if (done && prompt_.text().starts_with(before.text()) && end <= turn.end) {
      remember(situation, turn, before);
      return end;
    }
    Rendering without;
    situation.header = done && render(count, false, without) ? difference(before, without) : Header();
    const std::string_view text = text_of(turn);
    if (situation.header.text.empty() && done) situation.header = ending(before, text);
    if (situation.header.match(text) == 0 && alone().match(text) != 0) situation.header = alone();
    return {};
  }

  /// A template may refuse a conversation that ends there, or write no generation prompt behind an assistant. Then a
  /// word of a user's shows what it writes.
  const Header& alone() {
    if (alone_) return *alone_;
    alone_.emplace();
    DictEntry members[] = {{Value::view("role"), Value::view("user")}, {Value::view("content"), Value::view("Hi")}};
    const DictObject dict{.size = 2, .origin = 0, .entries = members, .index = nullptr, .index_mask = 0, .capacity = 2};
    const Value word = Value::of_dict(&dict, 0);
    Rendering with, without;
    if (render_({&word, 1}, true, with) && render_({&word, 1}, false, without)) *alone_ = difference(with, without);
    return *alone_;
  }

  void remember(Situation& situation, const jinja::Turn& turn, const Rendering& before) const {
    constexpr std::size_t kMost = 16;
    if (situation.leads.size() == kMost || behind_lead(situation, turn) == before.text().size()) return;
    const std::size_t end = before.text().size(), first = std::min<std::size_t>(end, turn.begin);
    Lead lead{static_cast<std::int64_t>(end) - static_cast<std::int64_t>(turn.begin), {}, {}};
    lead.between = prompt_.text().substr(first, std::max<std::size_t>(end, turn.begin) - first);
    const std::span<const Span> spans = before.spans();
    if (!spans.empty() && spans.back().origin == Origin::literal) lead.tail = before.text().substr(spans.back().begin);
    situation.leads.push_back(std::move(lead));
  }

  const Conversation& conversation_;
  const BeginningRenderer& render_;
  const Rendering& prompt_;
  std::size_t budget_;
  std::optional<Header> alone_;
  std::vector<Situation> situations_;
};

/// Which number a message has: the first one, if it is in the list twice.
class MessageNumbers {
 public:
  explicit MessageNumbers(Value messages) {
    for (const Value& message : items(messages)) {
      const auto number = static_cast<std::int32_t>(&message - messages.list->items);
      if (message.kind == Kind::dict) numbers_.emplace_back(message.dict, number);
    }
    std::sort(numbers_.begin(), numbers_.end(), before);
  }
  /// -1 for what is no message.
  std::int32_t of(const DictObject* item) const {
    const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), Numbered(item, 0), before);
    return found != numbers_.end() && found->first == item ? found->second : -1;
  }

 private:
  using Numbered = std::pair<const DictObject*, std::int32_t>;
  static bool before(const Numbered& a, const Numbered& b) {
    return a.first == b.first ? a.second < b.second : std::less<>()(a.first, b.first);
  }
  std::vector<Numbered> numbers_;
};

}  // namespace

void fill_from_tags(Rendering& into) {
  fields_of(into).assistant = fields_of(into).generation;
  // A block inside captured text is counted from where the capture began, as transformers does, so it may end past the
  // prompt.
  const std::uint64_t size = fields_of(into).size;
  std::erase_if(fields_of(into).assistant, [&](const TextRange& r) { return r.begin >= size; });
  for (TextRange& range : fields_of(into).assistant) range.end = std::min(range.end, size);
  std::sort(fields_of(into).assistant.begin(), fields_of(into).assistant.end(),
            [](const TextRange& a, const TextRange& b) { return a.begin < b.begin; });
}

Result<void> fill_from_turns(const Conversation& conversation, const BeginningRenderer& render,
                             const std::vector<jinja::Turn>& turns, Rendering& into) {
  if (!conversation.messages().is_sequence()) return {};
  const std::span<const Value> messages = items(conversation.messages());
  Beginnings beginnings(conversation, render, into);
  const MessageNumbers numbers(conversation.messages());
  std::vector<bool> has_turn(messages.size());
  for (jinja::Turn turn : turns) {
    const std::int32_t message = numbers.of(turn.item);
    turn.end = std::min<std::uint64_t>(turn.end, fields_of(into).size);
    if (message < 0 || turn.begin >= turn.end) continue;
    has_turn[static_cast<std::size_t>(message)] = true;
    const Speaker speaker = speaker_of(*turn.item);
    if (speaker == Speaker::other) continue;
    const std::uint64_t begin = beginnings.of(turn, message, speaker == Speaker::assistant);
    if (begin < turn.end) fields_of(into).assistant.push_back({begin, turn.end});
  }
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    if (has_turn[i] || !beginnings.is_assistant_at(i)) continue;
    if (beginnings.is_spent()) {
      fields_of(into).notes.push_back("messages[" + std::to_string(i) +
                                      "] and what follows: whether an assistant wrote it is not known, because the "
                                      "template does not write messages in a loop over them");
      break;
    }
    if (const std::optional<TextRange> range = beginnings.without_turn(i)) fields_of(into).assistant.push_back(*range);
  }
  std::sort(fields_of(into).assistant.begin(), fields_of(into).assistant.end(),
            [](const TextRange& a, const TextRange& b) { return a.begin < b.begin; });
  return {};
}

}  // namespace parlance
