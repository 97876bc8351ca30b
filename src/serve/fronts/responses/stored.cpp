// Responses by their ids: GET and DELETE /v1/responses/ID, GET /v1/responses/ID/input_items.
//
// Begin reading at stored_response.
#include <charconv>

#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/errors.h"
#include "serve/fronts/responses/item_list.h"
#include "serve/fronts/responses/response_events.h"
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

using ResponseRef = Kept<StoredResponse>::Ref;

/// Null: the client was told why.
Task<ResponseRef> found_or_refused(Call& call, std::string_view id) {
  const std::string owner = owner_of(call.exchange.request());
  const auto find = [&](bool may_wait) -> Result<ResponseRef> {
    return call.gateway.responses(may_wait).find(id, owner);
  };
  const std::optional<ResponseRef> found = co_await apart_or_refused<ResponseRef>(call, ReplyApi::openai, find);
  if (!found) co_return nullptr;
  if (*found == nullptr) co_await refuse_unknown(call, id);
  co_return *found;
}

Result<std::string> items_of(const StoredResponse& response, std::string_view query) {
  if (response.input_is_long)
    return Error(ErrorCode::conversation, "the input of the response '" + response.id +
                                              "' is too long to be shared by gateways, and is not kept");
  Document input, text;
  std::vector<Value> items;
  if (input.parse(response.input)) {
    const std::string alone = JsonWriter('{').text("role", "user").text("content", input.root().text()).take();
    if (input.root().is_string() && text.parse(alone)) items.push_back(text.root());
    items.insert(items.end(), input.root().items().begin(), input.root().items().end());
  }
  std::vector<std::string> made;
  for (const Value& item : items)
    made.push_back(item["id"].is_undefined() ? "msg_" + response.id + "_in_" + std::to_string(made.size())
                                             : std::string(item["id"].text()));
  const std::vector<std::string_view> ids(made.begin(), made.end());
  return page_json(ids, query, [&](std::size_t number) { return item_json(items[number], ids[number]); });
}

/// The answer as a client asks for it: its JSON, or its events.
struct StoredAnswer {
  std::string_view type = "application/json";
  std::string text;
};

/// Some clients say in the query that they want the events, others by accepting nothing else.
Result<StoredAnswer> answer_of(const StoredResponse& response, const HttpRequest& request) {
  const std::string_view query = request.query;
  const bool wants_events = request.header("accept") == "text/event-stream";
  const std::string stream = setting_of(query, "stream").value_or(wants_events ? "true" : "false");
  if (stream != "true" && stream != "false") return wrong_setting("stream", "true or false");
  if (stream == "false") return StoredAnswer{.text = response.json};
  const std::string from = setting_of(query, "starting_after").value_or("-1");
  std::int64_t after = 0;
  const auto [end, failed] = std::from_chars(from.data(), from.data() + from.size(), after);
  if (failed != std::errc() || end != from.data() + from.size() || after < -1)
    return wrong_setting("starting_after", "the sequence number of an event");
  return StoredAnswer{content_type_of_stream(ReplyApi::responses), response_events(response, after)};
}

Result<StoredAnswer> items_answer(const StoredResponse& response, std::string_view query) {
  Result<std::string> items = items_of(response, query);
  if (!items) return items.error();
  return StoredAnswer{.text = std::move(*items)};
}

}  // namespace

Task<> stored_response(Call& call) {
  const HttpRequest& request = call.exchange.request();
  std::string_view id = std::string_view(request.path).substr(kPath.size());
  const bool wants_items = id.ends_with(kItems);
  if (wants_items) id.remove_suffix(kItems.size());
  const ResponseRef found = co_await found_or_refused(call, id);
  if (found == nullptr) co_return;
  const Result<StoredAnswer> answer = wants_items ? items_answer(*found, request.query) : answer_of(*found, request);
  if (answer) {
    co_await call.exchange.answer(200, answer->type, answer->text);
    co_return;
  }
  const ReplyApiError error = error_of(answer.error());
  co_await refuse(call.exchange, ReplyApi::openai, error);
}

/// What the API has besides: to cancel what runs in the background, to compact a conversation.
Task<> refuse_response_action(Call& call) {
  const HttpRequest& request = call.exchange.request();
  constexpr std::string_view kCancel = "/cancel";
  std::string_view id = std::string_view(request.path).substr(kPath.size());
  const bool cancels = id.ends_with(kCancel);
  if (cancels) id.remove_suffix(kCancel.size());
  if (cancels) {
    const ResponseRef found = co_await found_or_refused(call, id);
    if (found == nullptr) co_return;
  }
  ReplyApiError error{.status = 404, .message = "there is no " + request.path + " here", .code = "not_found"};
  if (cancels) error = {.status = 400, .message = "the response is complete: nothing of it can be cancelled"};
  co_await refuse(call.exchange, ReplyApi::openai, error);
}

namespace {

/// Why something may still go on from it; "": nothing does.
Task<std::string> forget_name(Call& call, std::string name) {
  SharedSessions* const shared = call.gateway.shared();
  std::string why;
  for (const auto& model : call.offer->models) {
    std::string failed;
    if (shared != nullptr) failed = co_await shared->forget(model, name);
    call.gateway.sessions().drop(name,
                                 model->name);  // behind that: who asks meanwhile would find it there, and keep it
    if (why.empty()) why = failed;
  }
  co_return why;
}

}  // namespace

/// No request can name it any more, either. Where that fails the response is kept, so that a client can ask again.
Task<> delete_response(Call& call) {
  const HttpRequest& request = call.exchange.request();
  const std::string id = request.path.substr(kPath.size());
  const std::string owner = owner_of(request);
  const ResponseRef found = co_await found_or_refused(call, id);
  if (found == nullptr) co_return;
  const std::string why = co_await forget_name(call, name_of_response(id, owner));
  if (!why.empty()) {
    const ReplyApiError error = error_of(SharedFailure(why));
    co_await refuse(call.exchange, ReplyApi::openai, error);
    co_return;
  }
  const auto drop = [&](bool may_wait) -> Result<bool> { return call.gateway.responses(may_wait).drop(id, owner); };
  const std::optional<bool> dropped = co_await apart_or_refused<bool>(call, ReplyApi::openai, drop);
  if (!dropped) co_return;
  JsonWriter made('{');
  made.text("id", id).text("object", "response").flag("deleted", true);
  const std::string body = made.take();
  co_await call.exchange.answer(200, "application/json", body);
}

}  // namespace parlance::serve
