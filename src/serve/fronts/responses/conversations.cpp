// Conversations of OpenAI's API: POST /v1/conversations, GET, POST and DELETE /v1/conversations/ID, the same for
// /v1/conversations/ID/items, and GET and DELETE /v1/conversations/ID/items/ITEM.
//
// Begin reading at create_conversation. The form: the API's reference of conversations.
#include <algorithm>
#include <ctime>

#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/responses/conversation_input.h"
#include "serve/fronts/responses/item_list.h"
#include "serve/fronts/shapes/shape.h"
#include "serve/random_id.h"

namespace parlance::serve {

namespace {

using Conversations = Kept<StoredConversation>;
using Ref = Conversations::Ref;
using Made = Result<std::string>;

constexpr std::string_view kBelow = "/v1/conversations/", kItemsPart = "items";

/// What a path names: a conversation, its items, or one of them.
struct Named {
  std::string id;
  std::string owner;
  bool items = false;
  bool is_path = true;  ///< false: nothing has this path
  std::string item{};
};

Named named_by(const HttpRequest& request) {
  std::string_view rest = std::string_view(request.path).substr(kBelow.size());
  const auto next = [&rest] {
    const std::string_view one = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    return one;
  };
  Named named{.id = std::string(next()), .owner = owner_of(request)};
  const std::string_view below = next();
  named.items = below == kItemsPart;
  named.is_path = below.empty() || named.items;
  named.item = rest;
  named.id = unescaped(named.id);
  named.item = unescaped(named.item);
  return named;
}

Error unknown(const Named& named) {
  if (!named.is_path)
    return Error(ErrorCode::conversation, "a conversation has items, and nothing else below it").input("conversation");
  return Error(ErrorCode::conversation, "the conversation '" + named.id + "' is not known here, or not any more")
      .input("conversation");
}

Error unknown_item(const Named& named) {
  return Error(ErrorCode::conversation, "the conversation has no item '" + named.item + "'").input("item_id");
}

Error misfit(const std::string& why) { return Error(ErrorCode::conversation, why).input("items"); }

std::size_t bytes_of_items(const std::vector<StoredItem>& items) {
  std::size_t bytes = 0;
  for (const StoredItem& item : items) bytes += item.json.size();
  return bytes;
}

/// Strings by their names, as the API has them.
Result<std::string> metadata_of(Value body) {
  const Value given = body["metadata"];
  if (!is_given(given)) return std::string("{}");
  const auto is_text = [](const DictEntry& member) { return member.value.is_string(); };
  if (!given.is(Kind::dict) || !std::ranges::all_of(given.members(), is_text))
    return misshapen("metadata", "an object of strings");
  return json_text(given);
}

std::string conversation_json(const StoredConversation& one) {
  JsonWriter made('{');
  made.text("id", one.id).text("object", "conversation").number("created_at", one.created);
  return made.raw("metadata", one.metadata).take();
}

using ItemList = std::span<const std::shared_ptr<const StoredItem>>;

Made items_json(ItemList items, std::string_view query) {
  std::vector<std::string_view> ids;
  for (const auto& item : items) ids.push_back(item->id);
  return page_json(ids, query, [items](std::size_t number) {
    Document document;
    return document.parse(items[number]->json) ? item_json(document.root(), items[number]->id) : "null";
  });
}

Made created(Call& call, Value body, const Conversations& kept) {
  Result<std::string> metadata = metadata_of(body);
  if (!metadata) return metadata.error();
  StoredConversation made{.id = random_id("conv_"),
                          .owner = owner_of(call.exchange.request()),
                          .created = static_cast<std::int64_t>(std::time(nullptr)),
                          .metadata = std::move(*metadata)};
  if (is_given(body["items"])) {
    Result<std::vector<StoredItem>> items = stored_items(body["items"]);
    if (!items) return items.error();
    if (const std::string why = refusal_to_add(made, items->size(), bytes_of_items(*items)); !why.empty())
      return misfit(why);
    add_items(made, std::move(*items));
  }
  std::string json = conversation_json(made);
  kept.keep(std::move(made));
  return json;
}

Made with_items(const Named& named, Value body, const Conversations& kept) {
  Result<std::vector<StoredItem>> items = stored_items(body["items"]);
  if (!items) return items.error();
  const std::size_t count = items->size();
  std::string why;
  const auto add = [&](StoredConversation& to) {
    why = refusal_to_add(to, count, bytes_of_items(*items));
    if (why.empty()) add_items(to, *items);
  };
  const Ref made = kept.change(named.id, named.owner, add);
  if (made == nullptr) return unknown(named);
  if (!why.empty()) return misfit(why);
  const std::string whole = "order=asc&limit=" + std::to_string(std::clamp<std::size_t>(count, 1, 100));
  return items_json(std::span(made->items).last(count), whole);
}

Made with_metadata(const Named& named, Value body, const Conversations& kept) {
  const Result<std::string> metadata = metadata_of(body);
  if (!metadata) return metadata.error();
  if (!is_given(body["metadata"])) return misshapen("metadata", "an object of strings");
  const auto set = [&](StoredConversation& to) { to.metadata = *metadata; };
  const Ref made = kept.change(named.id, named.owner, set);
  return made == nullptr ? Made(unknown(named)) : conversation_json(*made);
}

Made changed(Call& call, Value body, const Conversations& kept) {
  const Named named = named_by(call.exchange.request());
  if (!named.is_path) return unknown(named);
  if (!named.item.empty()) return Error(ErrorCode::conversation, "an item cannot be changed").input("item_id");
  return named.items ? with_items(named, body, kept) : with_metadata(named, body, kept);
}

Made shown(Call& call, const Conversations& kept) {
  const Named named = named_by(call.exchange.request());
  const Ref found = kept.find(named.id, named.owner);
  if (found == nullptr || !named.is_path) return unknown(named);
  if (!named.items) return conversation_json(*found);
  if (named.item.empty()) return items_json(found->items, call.exchange.request().query);
  const auto item = std::ranges::find_if(found->items, [&](const auto& one) { return one->id == named.item; });
  Document document;
  if (item == found->items.end() || !document.parse((*item)->json)) return unknown_item(named);
  return item_json(document.root(), named.item);
}

Made without_item(const Named& named, const Conversations& kept) {
  bool was_there = false;
  const auto drop = [&](StoredConversation& from) {
    was_there = std::erase_if(from.items, [&](const auto& one) { return one->id == named.item; }) > 0;
  };
  const Ref made = kept.change(named.id, named.owner, drop);
  if (made == nullptr) return unknown(named);
  return was_there ? conversation_json(*made) : Made(unknown_item(named));
}

Made dropped(Call& call, const Conversations& kept) {
  const Named named = named_by(call.exchange.request());
  if (!named.is_path) return unknown(named);
  if (named.items) return without_item(named, kept);
  if (!kept.drop(named.id, named.owner)) return unknown(named);
  JsonWriter made('{');
  return made.text("id", named.id).text("object", "conversation.deleted").flag("deleted", true).take();
}

/// What `make(call, kept)` makes, where Redis may be waited for.
template <typename Make>
Task<> answer_made(Call& call, Make make) {
  const auto making = [&](bool may_wait) { return make(call, call.gateway.conversations(may_wait)); };
  const std::optional<std::string> made = co_await apart_or_refused<std::string>(call, ReplyApi::openai, making);
  if (made) co_await call.exchange.answer(200, "application/json", *made);
}

/// What `make(call, body, kept)` makes of the request's body, which may be missing.
template <typename Make>
Task<> answer_body(Call& call, Make make) {
  if (call.exchange.request().body.empty()) call.exchange.request().body = "{}";
  const auto making = [make](Call& of, const Conversations& kept) -> Made {
    const Result<Document> document = parsed_body(of.exchange.request().body);
    return document ? make(of, document->root(), kept) : Made(document.error());
  };
  co_await answer_made(call, making);
}

}  // namespace

Task<> create_conversation(Call& call) { co_await answer_body(call, created); }
Task<> change_conversation(Call& call) { co_await answer_body(call, changed); }
Task<> show_conversation(Call& call) { co_await answer_made(call, shown); }
Task<> delete_conversation(Call& call) { co_await answer_made(call, dropped); }

}  // namespace parlance::serve
