// What a model brings along, put into a conversation as Ollama puts it.
//
// Source: Ollama server/routes.go, ChatHandler: MESSAGEs stand before the request's messages, and
// SYSTEM before all of them where the request's own first message is not of the role system.
#include "conversation/conversation.h"
#include "conversation/edit.h"
#include "parlance/conversation.h"
#include "parlance/source.h"

namespace parlance {
namespace {

bool begins_with_system(Value messages) {
  if (!messages.is_sequence() || messages.list->size == 0) return false;
  return is_text(member(messages.list->items[0], "role"), "system");
}

}  // namespace

Result<void> add_model(Conversation& conversation, const ModelSource& model, bool tokens_only) {
  ConversationState& state = inside_of(conversation);
  for (const SpecialToken& token : model.special_tokens) {
    const bool is_new = member(conversation.variables(), token.name) == nullptr;
    if (Result<void> set = conversation.set_default_string(token.name, token.text); !set) return set;
    if (is_new && !token.name.ends_with("_token")) state.of_model.push_back(token.name);
  }
  // A template's file alone brings nothing.
  state.has_model = !model.tokenizer_path.empty() || !model.special_tokens.empty();
  if (tokens_only) return {};
  std::vector<Message> before;
  if (!model.system.empty() && !begins_with_system(conversation.messages()))
    before.push_back({.role = "system", .content = model.system});
  for (const SourceMessage& message : model.messages)
    before.push_back({.role = message.role, .content = message.content});
  return conversation.put_before(before);
}

}  // namespace parlance
