// Dropped messages, told by the origins of a prompt's bytes; see dropped.h.
#include "bulk/dropped.h"

#include <algorithm>
#include <charconv>

#include "conversation/conversation.h"
#include "conversation/edit.h"

namespace parlance {
namespace {

constexpr std::string_view kMessages = "messages[";

bool has_words(Value text) {
  bool found = false;
  for_each_piece(text, [&](std::string_view piece) { found = found || piece.find_first_not_of(" \t\r\n") != piece.npos; });
  return found;
}

bool has_text(Value message) {
  const Value* content = member(message, "content");
  if (content == nullptr) return false;
  if (content->is_string()) return has_words(*content);
  if (content->kind != Kind::list) return false;
  const std::span<const Value> parts = items(*content);
  return std::any_of(parts.begin(), parts.end(), [](Value part) {
    const Value* text = member(part, "text");
    return text != nullptr && text->is_string() && has_words(*text);
  });
}

/// The messages as the request has them: what was joined counts for each.
Value given_messages(const Conversation::State& state) {
  const Value* given = member(state.document.root(), "messages");
  return given != nullptr && given->is_sequence() ? *given : state.messages;
}

}  // namespace

DroppedMessages::DroppedMessages(const Conversation& conversation) {
  const Value messages = given_messages(conversation.state());
  if (!messages.is_sequence()) return;
  for (const Value& message : items(messages)) missing_.push_back(has_text(message));
}

void DroppedMessages::take_path(std::string_view path) {
  if (!path.starts_with(kMessages)) return;
  path.remove_prefix(kMessages.size());
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(path.data(), path.data() + path.size(), number);
  if (failed != std::errc() || number >= missing_.size()) return;
  path.remove_prefix(static_cast<std::size_t>(end - path.data()));
  if (path == "]" || path.starts_with("].content")) missing_[number] = false;
}

std::vector<std::string> DroppedMessages::notes() const {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    if (missing_[i]) notes.push_back(std::string(kMessages) + std::to_string(i) + "].content: not in the prompt (dropped)");
  }
  return notes;
}

}  // namespace parlance
