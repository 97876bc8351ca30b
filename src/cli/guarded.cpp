// Begin reading at GuardedOfAssistants::add.
#include "cli/guarded.h"

#include <algorithm>
#include <string>

#include "cli/lines/row.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

bool is_from_assistant(const Conversation& conversation, const Span& span) {
  const std::span<const Value> messages = conversation.messages().items();
  const auto number = static_cast<std::size_t>(span.message);
  return span.message >= 0 && number < messages.size() && is_of_assistant(messages[number]);
}

}  // namespace

void GuardedOfAssistants::add(const Rendering& rendering, const Conversation& conversation,
                              const PromptTokens& tokens) {
  std::set<TokenId> found;
  const std::span<const Span> spans = rendering.spans();
  for (const GuardedText& text : tokens.guarded) {
    auto span =
        std::partition_point(spans.begin(), spans.end(), [&](const Span& one) { return one.end <= text.bytes.begin; });
    for (; span != spans.end() && span->begin < text.bytes.end; ++span)
      if (is_from_assistant(conversation, *span)) found.insert(text.id);
  }
  if (found.empty()) return;
  const std::lock_guard lock(mutex_);
  ids_.merge(found);
  ++prompts_;
}

void GuardedOfAssistants::report(const Tokenizer& tokenizer, std::uint64_t lines) const {
  if (prompts_ == 0) return;
  constexpr std::size_t kMostNamed = 4;
  std::string names;
  std::size_t named = 0;
  for (const TokenId id : ids_) {
    if (named++ == kMostNamed) break;
    names += (names.empty() ? "" : ", ") + tokenizer.token_text(id);
  }
  if (named > kMostNamed) names += ", …";
  const std::string where = lines == 0 ? "" : std::to_string(prompts_) + " of " + std::to_string(lines) + " lines: ";
  say_note(where + names + " in the text of an assistant's message: encoded as ordinary text, not as control tokens; " +
           "if the model wrote them, --trust 'messages[assistant]' lets them through");
}

}  // namespace parlance::cli
