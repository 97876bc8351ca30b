// Puts a conversation's items before those of a request. Begin reading at with_conversation.
#include "serve/fronts/conversation_input.h"

#include <algorithm>
#include <charconv>

#include "parlance/json.h"
#include "parlance/request_api.h"
#include "serve/fronts/client_words.h"
#include "serve/fronts/message_shape.h"
#include "serve/fronts/shape.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kInput = "input", kItemsMember = "items";

std::string user_message(Value text) {
  return JsonWriter('{').text("type", "message").text("role", "user").raw("content", json_text(text)).take();
}

}  // namespace

Result<ConversationInput> with_conversation(Value body, const StoredConversations& kept, std::string_view owner) {
  const Value named = body["conversation"], input = body[kInput];
  if (!is_given(named)) return ConversationInput{};
  const Value id = named.is(Kind::dict) ? named["id"] : named;
  if (!id.is_string()) return misshapen("conversation.id", "the id of a conversation");
  if (is_given(body["previous_response_id"]))
    return Error(ErrorCode::conversation, "previous_response_id and conversation: a request goes on from one of them")
        .input("conversation.id");
  if (is_given(input) && !input.is_string() && !input.is_sequence())
    return misshapen("input", "a text or a list of items");
  const StoredConversations::Ref found = kept.find(id.text(), owner);
  if (found == nullptr)
    return Error(ErrorCode::conversation,
                 "the conversation '" + std::string(id.text()) + "' is not known here, or not any more")
        .input("conversation");
  JsonWriter items('[');
  for (const auto& item : found->items) items.item(item->json);
  if (input.is_string()) items.item(user_message(input));
  for (const Value& item : input.items()) items.item(json_text(item));
  return ConversationInput{{found->id, found->items.size()},
                           members_without(body, {"conversation", kInput}).raw(kInput, items.take()).take()};
}

Error in_own_places(const Error& error, const KeptBefore& before) {
  const std::string& path = error.input_path();
  if (before.conversation.empty() || !path.starts_with("input[")) return error;
  const std::size_t end = path.find(']');
  std::size_t number = 0;
  if (end == path.npos || std::from_chars(path.data() + kInput.size() + 1, path.data() + end, number).ec != std::errc())
    return error;
  const bool is_kept = number < before.items;
  const std::string own = is_kept ? "conversation.items[" + std::to_string(number) + "]"
                                  : "input[" + std::to_string(number - before.items) + "]";
  return renamed(error, path.substr(0, end + 1), own);
}

namespace {

/// A conversation to which an item was added that nobody can read could not be gone on.
Result<void> check_items(Value items) {
  const std::string request = JsonWriter('{').raw(kInput, json_text(items)).take();
  Document document;
  if (Result<void> parsed = document.parse(request); !parsed) return parsed;
  if (Result<void> checked = check_messages_shape(document.root(), ReplyApi::responses); !checked) return checked;
  const Result<ApiRequest> read = request_as(ReplyApi::openai, request);
  return read ? Result<void>() : Result<void>(read.error());
}

}  // namespace

Result<std::vector<StoredItem>> stored_items(Value items) {
  if (!items.is_sequence()) return misshapen(std::string(kItemsMember), "a list of items");
  if (Result<void> checked = check_items(items); !checked) {
    const std::string& path = checked.error().input_path();
    return renamed(checked.error(), path.starts_with(kInput) ? kInput : std::string_view(), kItemsMember);
  }
  std::vector<StoredItem> made;
  for (const Value& item : items.items()) made.push_back({std::string(item["id"].text()), json_text(item)});
  return made;
}

}  // namespace parlance::serve
