// The template writes at the end of the prompt what it writes in front of an answer: then it begins a reply. What that
// is shows a prompt with an answer behind the messages. Text that stands in front of the answer from the same place of
// the template closes the last message, as [/INST] does, and is no beginning. Begin reading at find_unheeded_end.
#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "conversation/normalise.h"
#include "losses/settings.h"

namespace parlance {
namespace {

constexpr std::string_view kName = "add_generation_prompt";
constexpr std::string_view kAnswer = "parlance stands in for an answer";
constexpr std::string_view kQuestion = "and for a question";

bool asks_for_none(const Experiment& experiment) {
  const Value given = member_value(experiment.conversation.variables(), kName);
  const bool is_false = !says_nothing(given) && !meant_by(given).value_or(is_true_for_template(given));
  return !experiment.options.add_generation_prompt.value_or(!is_false);
}

Value message(Runtime& rt, std::string_view role, std::string_view content) {
  DictBuilder made(rt, 2);
  made.set("role", Value::view(role));
  made.set("content", Value::view(content));
  return made.finish();
}

/// What stands behind the messages in an experiment.
struct Behind {
  bool answer, question;
};

Value with_more(Runtime& rt, Value variables, Behind behind) {
  const Value messages = member_value(variables, "messages");
  ListBuilder longer(rt, messages.list->size + 2);
  for (const Value one : items(messages)) longer.append(one);
  if (behind.answer) longer.append(message(rt, "assistant", kAnswer));
  if (behind.question) longer.append(message(rt, "user", kQuestion));
  return with_member(rt, variables, "messages", with_origin(longer.finish(), messages.list->origin));
}

/// Places in the template that wrote something into the first bytes of a prompt, sorted.
std::vector<std::uint32_t> places_before(std::span<const Span> spans, std::size_t end) {
  std::vector<std::uint32_t> places;
  for (const Span& span : spans) {
    if (span.begin < end && span.origin == Origin::literal) places.push_back(span.template_begin);
  }
  std::ranges::sort(places);
  return places;
}

/// The first of the spans at the end of a prompt that are text of the template and come from none of these places;
/// null if there is none.
const Span* begin_of_end(const Rendering& rendering, const std::vector<std::uint32_t>& places) {
  const Span* begin = nullptr;
  const std::span<const Span> spans = rendering.spans();
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    if (span->origin != Origin::literal || std::ranges::binary_search(places, span->template_begin)) break;
    begin = &*span;
  }
  return begin;
}

/// The end of a prompt that begins a reply.
struct Opening {
  const Span* begin = nullptr;  ///< null: there is none
  bool is_whole = false;        ///< all that stands in front of an answer
};

/// Does this prompt end as the other, with an answer behind the same messages, goes on? One text may close the last
/// message and open the reply, and behind the first that opens it other words may stand than in front of the answer.
Opening opening_of(const Rendering& rendering, const Rendering& answered) {
  const std::size_t answer = answered.text().rfind(kAnswer);
  if (answer == std::string_view::npos) return {};
  const Span* const begin = begin_of_end(rendering, places_before(answered.spans(), answer));
  if (begin == nullptr || answer <= begin->begin) return {};
  if (!answered.text().starts_with(rendering.text().substr(0, begin->begin))) return {};
  const std::string_view end = ascii::trimmed(rendering.text().substr(begin->begin));
  const std::string_view header = ascii::trimmed(answered.text().substr(begin->begin, answer - begin->begin));
  if (header.empty() || end.empty()) return {};
  const bool is_whole = end.starts_with(header) || end.ends_with(header);
  const std::string_view first = ascii::trimmed(rendering.text().substr(begin->begin, begin->end - begin->begin));
  const bool is_part = header.starts_with(end) || (!first.empty() && header.starts_with(first));
  return is_whole || is_part ? Opening{begin, is_whole} : Opening();
}

class End {
 public:
  End(const Experiment& experiment, const Rendering& rendering)
      : rendering_(rendering), trial_(experiment, Trial::With::spans) {}

  /// An answer that is the last message may be shown in another way than one with a question behind it.
  bool begins_reply(bool follows_question) {
    for (const bool question : {false, true}) {
      const Rendering* const answered = render({.answer = true, .question = question});
      const Opening opening = answered == nullptr ? Opening() : opening_of(rendering_, *answered);
      if (opening.begin != nullptr)
        return (opening.is_whole && follows_question) || ends_questions(opening, follows_question);
    }
    return false;
  }

 private:
  const Rendering* render(Behind behind) {
    return trial_.render([&](Runtime& rt, Value variables) { return with_more(rt, variables, behind); });
  }

  /// Does a question behind the messages stand in front of the opening too? A text that stays behind the last message
  /// ends that. And one that no question has behind it may close a tool's results, which nobody but an answer follows.
  bool ends_questions(const Opening& opening, bool follows_question) {
    const std::uint32_t place = opening.begin->template_begin;
    const Rendering* const asked = render({.answer = false, .question = true});
    if (asked == nullptr) return false;
    if (!opening.is_whole && asked->text().starts_with(ascii::trimmed_right(rendering_.text()))) return false;
    const std::span<const Span> spans = asked->spans();
    const auto literals =
        std::find_if(spans.rbegin(), spans.rend(), [](const Span& span) { return span.origin != Origin::literal; });
    return follows_question ||
           std::any_of(spans.rbegin(), literals, [place](const Span& span) { return span.template_begin == place; });
  }

  const Rendering& rendering_;
  Trial trial_;
};

}  // namespace

void find_unheeded_end(const Experiment& experiment, std::size_t most, const Rendering& rendering,
                       std::vector<Loss>& losses) {
  constexpr std::size_t kRenders = 3;
  if (most < kRenders) return;
  const Value variables = experiment.conversation.variables();
  const Value messages = member_value(variables, "messages");
  const bool may_be = variables.kind == Kind::dict && messages.is_sequence() && asks_for_none(experiment) &&
                      !continues_final(experiment.conversation, variables.dict, experiment.options);
  if (!may_be || rendering.spans().empty() || rendering.spans().back().origin != Origin::literal) return;
  const bool follows_question = messages.list->size != 0 && is_text(member(items(messages).back(), "role"), "user");
  const Value kwargs = member_value(inside_of(experiment.conversation).document.root(), "chat_template_kwargs");
  std::string path = (member(kwargs, kName) != nullptr ? "chat_template_kwargs." : "") + std::string(kName);
  const bool is_said = std::ranges::any_of(losses, [&](const Loss& one) { return one.path == path; });  // a text
  if (is_said || !End(experiment, rendering).begins_reply(follows_question)) return;
  losses.push_back(
      {LossKind::lost, "setting", std::move(path), "no effect: the template begins a reply all the same", {}});
}

}  // namespace parlance
