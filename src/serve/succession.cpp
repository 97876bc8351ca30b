// Goes on from turn to turn. Begin reading at Succession::plan.
#include "serve/succession.h"

#include "parlance/json_writer.h"
#include "serve/fronts/chat_request.h"

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
  for (const DictEntry& member : body.members()) {
    const std::string_view name = member.key.text();
    if (name != "messages" && name != "previous_response_id") made.raw(name, json_text(member.value));
  }
  return model.reader.consume(made.take(), "the request");
}

}  // namespace

Result<Turn> Succession::plan(const std::shared_ptr<const ServedModel>& model, Value body, std::string_view text,
                              SessionHints hints) {
  std::shared_ptr<Held> last = std::move(last_);
  if (last && last->response_id == hints.response && last->model == model) {
    Result<SamplingSettings> sampling = read_sampling(body);
    if (!sampling) return sampling.error();
    const Result<ChatRequest> request = read_behind(*model, *last, body);
    if (!request) return request.error();
    if (std::optional<PreparedPrompt> prompt = prepare_behind(last, *request))
      return Turn::plan(model, std::move(*prompt), {.sampling = std::move(*sampling), .hints = std::move(hints)});
  }
  SessionStore store;
  if (last) store.keep(std::move(last), hints.owner);
  return plan_turn(store, model, body, text, std::move(hints));
}

std::shared_ptr<const Held> Succession::keep(Turn& turn, const std::vector<std::string>& call_ids,
                                             std::string response_id) {
  last_ = turn.held(call_ids, std::move(response_id));
  return last_;
}

}  // namespace parlance::serve
