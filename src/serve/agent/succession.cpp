// Goes on from turn to turn. Begin reading at Succession::plan.
#include "serve/agent/succession.h"

#include "parlance/json_writer.h"
#include "serve/fronts/chat_request.h"
#include "serve/json/members.h"

namespace parlance::serve {

namespace {

/// The request's messages behind the reply that they answer, which passes may look at.
Result<ChatRequest> read_behind(const ServedModel& model, const Held& last, Value body) {
  Conversation reply;
  if (Result<void> added = reply.add(last.reply); !added) return added.error();
  JsonWriter messages('[');
  messages.item(json_text(reply.messages().items().front()));
  for (const Value& message : body["messages"].items()) messages.item(json_text(message));
  JsonWriter made('{');
  made.raw("messages", messages.take());
  append_members_without(made, body, {"messages", "previous_response_id"});
  return model.reader.consume(made.take(), "the request");
}

}  // namespace

Result<Turn> Succession::plan(const std::shared_ptr<const ServedModel>& model, Value body, std::string_view text,
                              SessionHints hints) {
  Result<TurnSettings> settings = turn_settings(*model, body, std::move(hints));
  if (!settings) return settings.error();
  if (last_ && last_->response_id == settings->hints.response && last_->model == model) {
    const Result<ChatRequest> request = read_behind(*model, *last_, body);
    if (!request) return request.error();
    if (std::optional<PreparedPrompt> prompt = prepare_behind(last_, *request)) {
      last_.reset();
      return Turn::plan(model, std::move(*prompt), std::move(*settings));
    }
  }
  return plan_copy(model, body, text, *settings);
}

Result<Turn> Succession::plan_copy(const std::shared_ptr<const ServedModel>& model, Value body, std::string_view text,
                                   SessionHints hints) {
  const Result<TurnSettings> settings = turn_settings(*model, body, std::move(hints));
  if (!settings) return settings.error();
  return plan_copy(model, body, text, *settings);
}

Result<Turn> Succession::plan_copy(const std::shared_ptr<const ServedModel>& model, Value body, std::string_view text,
                                   const TurnSettings& settings) {
  SessionStore store;
  const bool goes_on = !settings.hints.response.empty() || left_ == nullptr;
  if (const std::shared_ptr<const Held> from = goes_on ? last_ : left_) store.keep(from, settings.hints.owner);
  return plan_turn(store, model, {.api = ReplyApi::openai, .body = body, .text = text}, settings);
}

std::shared_ptr<const Held> Succession::keep(Turn& turn, const std::vector<std::string>& call_ids,
                                             std::string response_id) {
  std::shared_ptr<Held> made = turn.held(call_ids, std::move(response_id));
  if (!made) {
    leave(turn);
    return nullptr;
  }
  left_.reset();
  last_ = std::move(made);
  return last_;
}

void Succession::leave(const Turn& turn) { left_ = turn.without_reply(); }

}  // namespace parlance::serve
