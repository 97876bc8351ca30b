// The assistant's ranges: from tags where there are some, else turn by turn. Start at fill_assistant.
#include "render/assistant.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "conversation/learnt.h"
#include "render/beginnings.h"
#include "render/openings.h"
#include "render/rendering.h"
#include "render/template_inside.h"
#include "value/dict.h"

namespace parlance {
namespace {

/// Which number a message has: the first one, if it is in the list twice.
class MessageNumbers {
 public:
  explicit MessageNumbers(std::span<const Value> messages) : messages_(messages) {}

  /// -1 for what is no message. Most templates go through the messages one after the other, and through their calls,
  /// which have no role.
  std::int32_t of(const DictObject* item) {
    constexpr std::size_t kNear = 4;
    for (std::size_t i = next_; i < std::min(messages_.size(), next_ + kNear); ++i) {
      if (is(messages_[i], item)) return found(i);
    }
    if (find_key(*item, "role") == nullptr) return -1;
    if (numbers_.empty()) sort();
    const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), Numbered(item, 0), before);
    return at != numbers_.end() && at->first == item ? found(static_cast<std::size_t>(at->second)) : -1;
  }

 private:
  using Numbered = std::pair<const DictObject*, std::int32_t>;
  static bool is(Value message, const DictObject* item) { return message.kind == Kind::dict && message.dict == item; }
  static bool before(const Numbered& a, const Numbered& b) {
    return a.first == b.first ? a.second < b.second : std::less<>()(a.first, b.first);
  }
  std::int32_t found(std::size_t number) {
    next_ = number + 1;
    return static_cast<std::int32_t>(number);
  }
  void sort() {
    for (const Value& message : messages_) {
      const auto number = static_cast<std::int32_t>(&message - messages_.data());
      if (message.kind == Kind::dict) numbers_.emplace_back(message.dict, number);
    }
    std::sort(numbers_.begin(), numbers_.end(), before);
  }

  std::span<const Value> messages_;
  std::size_t next_ = 0;  ///< the message behind the last one that was asked about
  std::vector<Numbered> numbers_;
};

/// The only message of which there is text in a turn; -1: there is none, or not only one.
std::int32_t message_in(const Rendering& prompt, const jinja::Turn& turn) {
  const std::span<const Span> spans = prompt.spans();
  auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.end <= turn.begin; });
  std::int32_t message = -1;
  for (; span != spans.end() && span->begin < turn.end; ++span) {
    if (span->message < 0 || span->message == message) continue;
    if (message >= 0) return -1;
    message = span->message;
  }
  return message;
}

bool is_number(const jinja::Turn& turn) { return turn.item == &jinja::kNumber; }

/// Gives iterations of a loop over numbers their messages. False where one has none that comes behind the last one's.
bool find_messages(std::span<const Value> messages, const Rendering& prompt, std::vector<jinja::Turn>& turns) {
  std::int32_t last = -1;
  for (jinja::Turn& turn : turns) {
    const std::int32_t message = is_number(turn) ? message_in(prompt, turn) : -1;
    if (message < 0) continue;  // it wrote nothing of a message: an empty one, say
    if (message <= last || static_cast<std::size_t>(message) >= messages.size()) return false;
    const Value whose = messages[static_cast<std::size_t>(message)];
    if (whose.kind != Kind::dict) return false;
    last = message;
    turn.item = whose.dict;
  }
  return true;
}

/// Loops over numbers count where no loop over the messages themselves wrote any, and no message was written twice.
void settle_numbers(std::span<const Value> messages, const Rendering& prompt, std::vector<jinja::Turn>& turns) {
  MessageNumbers numbers(messages);
  const bool has_others = std::any_of(turns.begin(), turns.end(), [&](const jinja::Turn& turn) {
    return !is_number(turn) && numbers.of(turn.item) >= 0;
  });
  if (!has_others && !find_messages(messages, prompt, turns)) turns.clear();
  std::erase_if(turns, is_number);
}

/// How the template is asked about turns.
struct TurnQuestions {
  std::function<const Openings*(bool with_variables)> openings;  ///< what is known of them; may be null
  BeginningRenderer beginning;
};

/// The turns of one prompt, each by what is known of its template, or else by asking.
class TurnRanges {
 public:
  TurnRanges(const Conversation& conversation, const TurnQuestions& ask, Rendering& into)
      : conversation_(conversation),
        messages_(items(conversation.messages())),
        ask_(ask),
        into_(into),
        numbers_(messages_) {}

  void add(jinja::Turn turn) {
    const std::int32_t message = numbers_.of(turn.item);
    turn.end = std::min<std::uint64_t>(turn.end, fields_of(into_).size);
    if (message < 0 || turn.begin >= turn.end) return;
    note_turn(message);
    const std::string_view role = role_of(*turn.item), before = role_of_message(message - 1);
    last_message_ = message, last_role_ = role;
    const Speaker speaker = speaker_of(role);
    if (speaker == Speaker::other) return;
    const std::uint64_t begin = begin_of(turn, message, before, speaker == Speaker::assistant);
    const bool is_added = begin < turn.end && add({begin, end_of(turn)}, message);
    if (!is_added && speaker == Speaker::assistant) ranges_.of_each = false;
  }

  /// What an assistant wrote in a message that has no turn.
  void add_without_turns() {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (has_turn(i) || !is_assistant(messages_[i])) continue;
      ranges_.of_each = false;
      if (beginnings().is_spent()) break;  // note_unmasked says which have no range
      const std::optional<TextRange> range = beginnings().without_turn(static_cast<std::uint32_t>(i));
      const auto message = static_cast<std::int32_t>(i);
      if (range && words_in(*range, message).others == range->end) push(*range, message);
    }
  }

  AssistantRanges found() const { return ranges_; }

 private:
  /// A turn may hold what somebody else wrote: a template that looks ahead writes results behind the calls. The turn is
  /// over where it ends without them, but for words that the template writes behind them. False where it has no words
  /// of the message itself.
  bool add(TextRange range, std::int32_t message) {
    const Words words = words_in(range, message);
    if (words.others == range.end) return push(range, message), words.has_own;
    push({range.begin, beginnings().end_before(words.others, range.begin, message)}, message);
    return add_behind({words.others, range.end}, message) || words.has_own;
  }
  /// From each of a message's words behind another's text up to where such a text comes again, or the turn's end. False
  /// where there are none. What results repeat of their calls is no word.
  bool add_behind(TextRange rest, std::int32_t message) {
    std::optional<TextRange> words;
    bool has_words = false;
    const std::span<const Span> spans = into_.spans();
    auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.begin < rest.begin; });
    for (; span != spans.end() && span->begin < rest.end; ++span) {
      if (!is_given(*span)) continue;
      if (span->message != message) {
        if (words) push(*words, message);
        words.reset();
      } else if (is_word(*span)) {
        words = TextRange{words ? words->begin : span->begin, span->end};
        has_words = true;
      }
    }
    if (words) push({words->begin, rest.end}, message);
    return has_words;
  }
  bool is_word(const Span& span) const {
    if (ascii::is_blank(into_.text().substr(span.begin, span.end - span.begin))) return false;
    const std::string path = path_of_span(conversation_, span);
    return path.find("].tool_calls") == path.npos && !path.ends_with("].role");
  }
  static bool is_given(const Span& span) {
    return span.message >= 0 && (span.origin == Origin::input || span.origin == Origin::derived);
  }
  void push(const TextRange& range, std::int32_t message) {
    fields_of(into_).assistant.push_back(range);
    ranges_.has_unlearnt = ranges_.has_unlearnt || is_unlearnt(messages_[static_cast<std::size_t>(message)]);
  }

  struct Words {
    std::uint64_t others = 0;  ///< the first byte that is of another message's text; the range's end: there is none
    bool has_own = false;      ///< before those, some are the message's own
  };
  Words words_in(const TextRange& range, std::int32_t message) const {
    Words words{range.end};
    const std::span<const Span> spans = into_.spans();
    auto span = std::partition_point(spans.begin(), spans.end(), [&](const Span& s) { return s.begin < range.begin; });
    for (; span != spans.end() && span->begin < range.end; ++span) {
      if (!is_given(*span)) continue;
      if (span->message != message) return words.others = span->begin, words;
      words.has_own = true;
    }
    return words;
  }
  /// Of a message; turns mostly come one after the other.
  std::string_view role_of_message(std::int32_t message) const {
    return message == last_message_ ? last_role_ : role_before(messages_, message + 1);
  }
  std::uint64_t begin_of(const jinja::Turn& turn, std::int32_t message, std::string_view role_before,
                         bool is_assistant) {
    if (!has_openings_) openings_ = ask_.openings(true), has_openings_ = true;
    if (openings_ != nullptr && is_assistant) {
      if (const auto begin = openings_->begin_of(conversation_, into_, turn, message, role_before)) return *begin;
    }
    return beginnings().of(turn, message, is_assistant);
  }
  /// Behind what the template closes each turn with, also where its loop has left the turn before.
  std::uint64_t end_of(const jinja::Turn& turn) {
    if (!closing_) {
      // A request's variables hardly ever change that, and the prompt shows whether it is there.
      const Openings* openings = openings_ != nullptr ? openings_ : ask_.openings(false);
      closing_ = openings != nullptr ? openings->closing() : std::string_view();
    }
    if (closing_->empty() || !into_.text().substr(turn.end).starts_with(*closing_)) return turn.end;
    const bool is_own = own_behind(into_, turn.end).text.size() >= closing_->size();
    return is_own ? turn.end + closing_->size() : turn.end;
  }
  Beginnings& beginnings() {
    if (!beginnings_) beginnings_.emplace(conversation_, ask_.beginning, into_);
    return *beginnings_;
  }

  // Turns mostly come one after the other: then the first and the last say which there are.
  void note_turn(std::int32_t message) {
    const auto number = static_cast<std::size_t>(message);
    if (others_.empty() && (first_ == last_ || number == last_)) {
      first_ = first_ == last_ ? number : first_;
      last_ = number + 1;
      return;
    }
    others_.resize(messages_.size());
    others_[number] = true;
  }
  bool has_turn(std::size_t message) const {
    return (message >= first_ && message < last_) || (!others_.empty() && others_[message]);
  }

  const Conversation& conversation_;
  std::span<const Value> messages_;
  const TurnQuestions& ask_;
  Rendering& into_;
  MessageNumbers numbers_;
  bool has_openings_ = false;
  const Openings* openings_ = nullptr;
  std::optional<std::string_view> closing_;
  std::optional<Beginnings> beginnings_;
  AssistantRanges ranges_;
  std::int32_t last_message_ = -1;  ///< whose turn was the last one
  std::string_view last_role_;
  std::size_t first_ = 0, last_ = 0;  ///< those that came one after the other
  std::vector<bool> others_;
};

void sort_ranges(std::vector<TextRange>& ranges) {
  const auto before = [](const TextRange& a, const TextRange& b) { return a.begin < b.begin; };
  if (!std::is_sorted(ranges.begin(), ranges.end(), before)) std::sort(ranges.begin(), ranges.end(), before);
}

AssistantRanges fill_from_turns(const Conversation& conversation, const TurnQuestions& ask,
                                const std::vector<jinja::Turn>& turns, Rendering& into) {
  TurnRanges ranges(conversation, ask, into);
  fields_of(into).assistant.reserve(turns.size());
  for (const jinja::Turn& turn : turns) ranges.add(turn);
  ranges.add_without_turns();
  sort_ranges(fields_of(into).assistant);
  return ranges.found();
}

}  // namespace

bool may_have_words(const Conversation& conversation) {
  const Value messages = conversation.messages();
  if (!messages.is_sequence()) return false;
  const std::span<const Value> all = items(messages);
  return std::any_of(all.begin(), all.end(), [](Value message) {
    return message.kind != Kind::dict || speaker_of(role_of(*message.dict)) != Speaker::other;
  });
}

void fill_from_tags(Rendering& into) {
  fields_of(into).assistant = fields_of(into).generation;
  // A block inside captured text is counted from where the capture began, as transformers does, so it may end past the
  // prompt.
  const std::uint64_t size = fields_of(into).size;
  std::erase_if(fields_of(into).assistant, [&](const TextRange& r) { return r.begin >= size; });
  for (TextRange& range : fields_of(into).assistant) range.end = std::min(range.end, size);
  sort_ranges(fields_of(into).assistant);
}

/// Three ways to render are passed down: part of this conversation, part of a learning one, and with its turns. All use
/// a second workspace, since the prompt's own pieces and turns are still being read.
AssistantRanges fill_assistant(const Template& chat_template, const Conversation& conversation,
                               const RenderOptions& options, const std::vector<jinja::Turn>& turns, Rendering& into) {
  const std::span<const Value> all_messages = items(conversation.messages());
  std::optional<Workspace> made;  // most prompts need no other render
  const auto other = [&made]() -> Workspace& { return made ? *made : made.emplace(); };
  std::optional<Openings> spare;
  const auto impl = TemplateInside::impl(chat_template);
  const auto render_first = [&](const Conversation& chat, std::span<const Value> messages, const RenderOptions& how,
                                Rendering& part) {
    const ListObject first{static_cast<std::uint32_t>(messages.size()), chat.messages().list->origin, messages.data()};
    if (!TemplateInside::run(chat_template, chat, how, other(), &part, &first)) return false;
    fields_of(part).size = inside_of(other()).output.bytes();
    return true;
  };
  const auto render_beginning = [&](std::span<const Value> messages, bool generation_prompt, Rendering& part) {
    RenderOptions how = options;
    how.want_assistant = how.want_spans = how.want_undefined = false;
    how.continue_final = false;
    how.add_generation_prompt = generation_prompt;
    return render_first(conversation, messages, how, part);
  };
  const auto render_opening = [&](const Conversation& chat, std::span<const Value> messages, bool generation_prompt,
                                  Rendering& part, std::vector<jinja::Turn>* of_part) {
    RenderOptions how{.add_generation_prompt = generation_prompt, .continue_final = false};
    how.limits = kOpeningLimits;
    how.want_assistant = of_part != nullptr;
    if (!render_first(chat, messages, how, part)) return false;
    if (of_part == nullptr) return true;
    *of_part = inside_of(other()).turns.turns();
    settle_numbers(messages, part, *of_part);
    return true;
  };
  const auto openings = [&](bool with_variables) {
    const Value all = conversation.variables();
    const DictObject* const variables = with_variables && all.kind == Kind::dict ? all.dict : nullptr;
    return impl->openings.find(*impl->program, variables, std::cref(render_opening), spare);
  };
  const TurnQuestions ask{std::cref(openings), std::cref(render_beginning)};
  if (std::none_of(turns.begin(), turns.end(), is_number)) return fill_from_turns(conversation, ask, turns, into);
  std::vector<jinja::Turn> settled = turns;
  settle_numbers(all_messages, into, settled);
  return fill_from_turns(conversation, ask, settled, into);
}

}  // namespace parlance
