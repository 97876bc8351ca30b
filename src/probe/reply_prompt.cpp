// Where the assistant's turn begins in a prompt, by the origins of its bytes. Begin reading at reply_prompt.
#include "parlance/reply_prompt.h"

#include <algorithm>
#include <optional>

#include "base/reasoning_names.h"
#include "probe/turn_opening.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

/// A prompt's bytes that may be of the assistant's turn.
struct ReplyStretch {
  std::size_t begin = 0;       ///< behind all other messages
  std::size_t header_end = 0;  ///< where the message that goes on begins; the prompt's end if none does
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

/// The number of the message that goes on; -1 where a turn of its own is opened for the reply.
std::int32_t continued(const Conversation& conversation) {
  const Value messages = conversation.messages();
  if (!messages.is_sequence() || messages.list->size == 0) return -1;
  const auto last = static_cast<std::int32_t>(messages.list->size - 1);
  const Value message = messages.list->items[last];
  const DictEntry* role = message.kind == Kind::dict ? find_key(*message.dict, "role") : nullptr;
  return role != nullptr && role->value.is_leaf() && leaf_text(role->value) == "assistant" ? last : -1;
}

bool is_of_tools(const Conversation& conversation, const Span& span) {
  if (span.input == nullptr && span.input_id == 0) return false;
  const std::string path = path_of_span(conversation, span);
  return path.starts_with("tools") || path.starts_with("documents");
}

ReplyStretch stretch_of(const Conversation& conversation, const Rendering& prompt) {
  const std::int32_t own = continued(conversation);
  ReplyStretch found{0, prompt.text().size()};
  for (const Span& span : prompt.spans()) {
    if (span.message >= 0 && span.message == own) {
      const bool header = path_of_span(conversation, span).ends_with("].role");
      if (!header) found.header_end = std::min<std::size_t>(found.header_end, span.begin);
    } else if (span.message >= 0 || is_of_tools(conversation, span)) {
      found.begin = std::max<std::size_t>(found.begin, span.end);
    }
  }
  return found;
}

/// What a turn may begin with, the longest first: the prompt of `format`, the same before reasoning, its first line.
std::vector<std::string_view> openers(const ReplyFormat& format) {
  const std::string_view own = format.prompt;
  std::vector<std::string_view> found{own};
  for (const ReplyMarker* marker : {&format.reasoning_close, &format.reasoning_open}) {
    for (const std::string& text : marker->texts) {
      const std::string_view tag = trimmed(text);
      if (tag.empty() || found.back().find(tag) == own.npos) continue;
      found.push_back(found.back().substr(0, found.back().find(tag)));
    }
  }
  const std::size_t line = found.back().find('\n', std::min(own.find_first_not_of(kBlank), own.size()));
  if (line != own.npos) found.push_back(found.back().substr(0, line + 1));
  std::erase_if(found, [](std::string_view opener) { return trimmed(opener).empty(); });
  return found;
}

bool is_blank_member(const Value& message, std::string_view key) {
  const DictEntry* found = find_key(*message.dict, key);
  const bool is_text = found != nullptr && found->value.is_leaf() && found->value.is_string();
  return !is_text || trimmed(leaf_text(found->value)).empty();
}

/// Whether the message that goes on has reasoning and no answer yet.
bool continues_reasoning(const Conversation& conversation) {
  const std::int32_t own = continued(conversation);
  if (own < 0) return false;
  const Value message = conversation.messages().list->items[own];
  const bool reasons = std::any_of(std::begin(kReasoningNames), std::end(kReasoningNames),
                                   [&](std::string_view key) { return !is_blank_member(message, key); });
  return reasons && is_blank_member(message, "content");
}

/// Where the header of a turn opens reasoning by itself, and no other opener tells the two apart; npos: it does not.
std::size_t reasoning_opening(std::string_view text, const ReplyStretch& stretch, const ReplyFormat& format) {
  const std::string_view header = text.substr(0, stretch.header_end);
  for (const std::string& opener : format.reasoning_open.texts) {
    const std::size_t at = header.rfind(trimmed(opener));
    if (at != header.npos && at >= stretch.begin) return at;
  }
  return text.npos;
}

std::string tail_of(const Conversation& conversation, const Rendering& prompt, const ReplyFormat& format) {
  const std::string_view text = prompt.text();
  const ReplyStretch stretch = stretch_of(conversation, prompt);
  std::size_t at = turn_opening(text, stretch.begin, stretch.header_end, format);
  if (at == text.npos && continues_reasoning(conversation)) at = reasoning_opening(text, stretch, format);
  return std::string(text.substr(at != text.npos ? at : std::max(stretch.header_end, stretch.begin)));
}

/// What a generation prompt adds, if it only adds.
std::optional<std::string> added_text(const Template& chat_template, const Conversation& conversation,
                                      const RenderOptions& options, std::string_view prompt) {
  RenderOptions closed = options;
  closed.want_spans = false;
  closed.add_generation_prompt = false;
  const Result<Rendering> without = chat_template.render(conversation, closed);
  if (!without || without->text().size() >= prompt.size() || !prompt.starts_with(without->text())) return std::nullopt;
  return std::string(prompt.substr(without->text().size()));
}

}  // namespace

std::size_t turn_opening(std::string_view text, std::size_t begin, std::size_t header_end, const ReplyFormat& format) {
  for (const std::string_view opener : openers(format)) {
    // It begins in the header. What stands before `begin` may be a long conversation: nothing is looked for there.
    const std::size_t end = std::max(header_end + opener.size() - 1, begin);
    const std::size_t at = text.substr(begin, end - begin).rfind(opener);
    if (at != text.npos) return begin + at;
  }
  return text.npos;
}

std::size_t opening_size(std::string_view text, const ReplyFormat& format) {
  for (const std::string_view opener : openers(format))
    if (text.starts_with(opener)) return opener.size();
  return 0;
}

Result<std::string> reply_prompt(const Template& chat_template, const Conversation& conversation,
                                 const RenderOptions& options, const ReplyFormat& format) {
  RenderOptions open = options;
  open.want_spans = true;
  const Result<Rendering> prompt = chat_template.render(conversation, open);
  if (!prompt) return prompt.error();
  const std::optional<std::string> added = added_text(chat_template, conversation, options, prompt->text());
  return added ? *added : tail_of(conversation, *prompt, format);
}

Result<std::string> reply_prompt(const Template& chat_template, const Conversation& conversation,
                                 const RenderOptions& options, const ReplyFormat& format, std::string_view prompt) {
  if (std::optional<std::string> added = added_text(chat_template, conversation, options, prompt))
    return std::move(*added);
  return reply_prompt(chat_template, conversation, options, format);
}

}  // namespace parlance
