// Responses by their ids: GET and DELETE /v1/responses/ID, GET /v1/responses/ID/input_items.
//
// Begin reading at stored_response.
#include <algorithm>

#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "serve/fronts/routes.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kPath = "/v1/responses/", kItems = "/input_items";

Task<> refuse_unknown(Call& call, std::string_view id) {
  const ReplyApiError error{.status = 404,
                            .message = "the response '" + std::string(id) + "' is not known here, or not any more",
                            .code = "not_found"};
  co_await refuse(call.exchange, ReplyApi::openai, error);
}

/// An item as the API lists it: with an id, and a text as a part.
std::string item_json(Value item, const std::string& id) {
  const bool is_message = item["type"].is_undefined() || item["type"].text() == "message";
  JsonWriter made('{');
  if (item["id"].is_undefined()) made.text("id", id);
  if (item["type"].is_undefined()) made.text("type", "message");
  for (const DictEntry& member : item.members()) {
    const bool is_text = is_message && member.key.text() == "content" && member.value.is_string();
    if (!is_text) {
      made.raw(member.key.text(), json_text(member.value));
      continue;
    }
    const std::string_view type = item["role"].text() == "assistant" ? "output_text" : "input_text";
    const std::string part = JsonWriter('{').text("type", type).text("text", member.value.text()).take();
    made.raw("content", JsonWriter('[').item(part).take());
  }
  if (is_message && item["status"].is_undefined()) made.text("status", "completed");
  return made.take();
}

std::string items_json(const StoredResponse& response, bool newest_first) {
  Document input;
  std::vector<std::string> items, ids;
  const auto add = [&](Value item) {
    ids.push_back(item["id"].is_undefined() ? "msg_" + response.id + "_in_" + std::to_string(items.size())
                                            : std::string(item["id"].text()));
    items.push_back(item_json(item, ids.back()));
  };
  Document text;
  if (input.parse(response.input)) {
    const std::string alone = JsonWriter('{').text("role", "user").text("content", input.root().text()).take();
    if (input.root().is_string() && text.parse(alone)) add(text.root());
    for (const Value& item : input.root().items()) add(item);
  }
  if (newest_first) {
    std::reverse(items.begin(), items.end());
    std::reverse(ids.begin(), ids.end());
  }
  JsonWriter list('['), made('{');
  for (const std::string& item : items) list.item(item);
  made.text("object", "list").raw("data", list.take()).flag("has_more", false);
  ids.empty() ? made.null("first_id") : made.text("first_id", ids.front());
  ids.empty() ? made.null("last_id") : made.text("last_id", ids.back());
  return made.take();
}

}  // namespace

Task<> stored_response(Call& call) {
  const HttpRequest& request = call.exchange.request();
  std::string_view id = std::string_view(request.path).substr(kPath.size());
  const bool wants_items = id.ends_with(kItems);
  if (wants_items) id.remove_suffix(kItems.size());
  const std::shared_ptr<const StoredResponse> found = call.gateway.responses().find(id, owner_of(request));
  if (found == nullptr) {
    co_await refuse_unknown(call, id);
    co_return;
  }
  const bool newest_first = request.query.find("order=asc") == request.query.npos;
  const std::string body = wants_items ? items_json(*found, newest_first) : found->json;
  co_await call.exchange.answer(200, "application/json", body);
}

/// Nothing goes on from it any more, either.
Task<> delete_response(Call& call) {
  const HttpRequest& request = call.exchange.request();
  const std::string id = request.path.substr(kPath.size());
  if (!call.gateway.responses().drop(id, owner_of(request))) {
    co_await refuse_unknown(call, id);
    co_return;
  }
  call.gateway.sessions().drop_if([&id](const Held& held) { return held.response_id == id; });
  JsonWriter made('{');
  made.text("id", id).text("object", "response").flag("deleted", true);
  const std::string body = made.take();
  co_await call.exchange.answer(200, "application/json", body);
}

}  // namespace parlance::serve
