// Puts a conversation's items before those of a request. Begin reading at with_conversation.
#include "serve/fronts/responses/conversation_input.h"

#include <charconv>
#include <unordered_set>

#include "parlance/json.h"
#include "parlance/request_api.h"
#include "serve/fronts/client_words.h"
#include "serve/fronts/shapes/message_shape.h"
#include "serve/fronts/shapes/shape.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kInput = "input", kItemsMember = "items";

std::string user_message(Value text) {
  return JsonWriter('{').text("type", "message").text("role", "user").raw("content", json_text(text)).take();
}

}  // namespace

namespace {

/// An id or an object with one. "" and no error: the request names none.
Result<std::string> conversation_of(Value body) {
  const Value named = body["conversation"], input = body[kInput];
  if (!is_given(named)) return std::string();
  const Value id = named.is(Kind::dict) ? named["id"] : named;
  if (!id.is_string() || id.text().empty()) return misshapen("conversation.id", "the id of a conversation");
  if (is_given(body["previous_response_id"]))
    return Error(ErrorCode::conversation, "previous_response_id and conversation: a request goes on from one of them")
        .input("conversation.id");
  if (is_given(input) && !input.is_string() && !input.is_sequence())
    return misshapen("input", "a string or a list of items");
  return std::string(id.text());
}

/// The request's own items. One that is named, and is in the conversation, is there already.
std::vector<std::string> own_items(Value input, const StoredConversation& conversation) {
  if (input.is_string()) return {user_message(input)};
  std::unordered_set<std::string_view> ids;
  for (const auto& item : conversation.items) ids.insert(item->id);
  std::vector<std::string> made;
  for (const Value& item : input.items()) {
    const bool is_there = item["type"].text() == "item_reference" && ids.contains(item["id"].text());
    if (!is_there) made.push_back(json_text(item));
  }
  return made;
}

Error too_large(const std::string& why) {
  return Error(ErrorCode::conversation, why).input("conversation.id").hint("begin another conversation");
}

}  // namespace

Result<ConversationInput> with_conversation(Value body, const Kept<StoredConversation>& kept, std::string_view owner,
                                            std::size_t most) {
  const Result<std::string> id = conversation_of(body);
  if (!id) return id.error();
  if (id->empty()) return ConversationInput{};
  const Kept<StoredConversation>::Ref found = kept.find(*id, owner);
  if (found == nullptr)
    return Error(ErrorCode::conversation, "the conversation '" + *id + "' is not known here, or not any more")
        .input("conversation");
  const std::vector<std::string> own = own_items(body[kInput], *found);
  std::size_t bytes = 0;
  for (const std::string& item : own) bytes += item.size();
  if (const std::string why = refusal_to_add(*found, own.size(), bytes); !why.empty()) return too_large(why);
  if (bytes_of(*found) + bytes > most)
    return too_large("the conversation with this request is larger than a request may be, " + std::to_string(most) +
                     " bytes");
  JsonWriter items('[');
  for (const auto& item : found->items) items.item(item->json);
  for (const std::string& item : own) items.item(item);
  return ConversationInput{{found->id, found->items.size(), body[kInput].is_string()},
                           members_without(body, {"conversation", kInput}).raw(kInput, items.take()).take()};
}

std::string own_place(const std::string& path, const KeptBefore& before) {
  if (before.conversation.empty() || !path.starts_with("input[")) return path;
  const std::size_t end = path.find(']');
  std::size_t number = 0;
  if (end == path.npos || std::from_chars(path.data() + kInput.size() + 1, path.data() + end, number).ec != std::errc())
    return path;
  const std::string inside = path.substr(end + 1);
  if (number < before.items) return "conversation.items[" + std::to_string(number) + "]" + inside;
  return before.text ? std::string(kInput) : "input[" + std::to_string(number - before.items) + "]" + inside;
}

Error in_own_places(const Error& error, const KeptBefore& before) {
  const std::string own = own_place(error.input_path(), before);
  return own == error.input_path() ? error : renamed(error, error.input_path(), own);
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
