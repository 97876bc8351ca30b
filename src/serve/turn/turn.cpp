// One reply. Begin reading at Turn::plan, then at Turn::run and Turn::keep.
#include "serve/turn/turn.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "parlance/json_writer.h"

namespace parlance::serve {

Result<Turn> Turn::plan(std::shared_ptr<const ServedModel> model, const Sessions& sessions, ChatRequest request,
                        TurnSettings settings, unsigned choice) {
  Result<PreparedPrompt> prompt = prepare_prompt(model, sessions, request, settings.hints, settings.new_session);
  if (!prompt) return prompt.error();
  return plan(std::move(model), std::move(*prompt), std::move(settings), choice);
}

Result<Turn> Turn::plan(std::shared_ptr<const ServedModel> model, PreparedPrompt prompt, TurnSettings settings,
                        unsigned choice) {
  Result<std::shared_ptr<const ReplyPlan>> made = plan_reply(std::move(model), prompt, std::move(settings));
  if (!made) return made.error();
  return Turn(std::move(*made), std::move(prompt), choice);
}

Turn Turn::another(unsigned choice) const { return {plan_, prompt_.copy(), choice}; }

Generation Turn::generation() const {
  const TurnSettings& settings = plan_->settings;
  return {.ids = prompt_.session.ids(),
          .text = prompt_.session.text(),
          .forgeable = !prompt_.session.guarded().empty(),
          .grammar = plan_->grammar,
          .schema = plan_->schema,
          .sampling = settings.sampling,
          .stops = plan_->stop_ids,
          .stop_texts = plan_->model->stop_texts,
          .choice = choice_,
          .place = plan_->place.get(),
          .logprobs = settings.logprobs,
          .last_body = plan_->model->last_body.get()};
}

Task<> Turn::run(Take take, Flush flush, TakeTokens take_tokens) {
  const ReplyTakers takers{.event = std::move(take), .tokens = std::move(take_tokens), .flush = std::move(flush)};
  ReplyRun run(*plan_, takers, result_);
  Generation asked = generation();
  co_await run.sample(std::move(asked));
  run.finish();
}

namespace {

/// Calls for which the model wrote no ids have those that were made up.
std::optional<Message> with_ids(std::optional<Message> reply, const std::vector<std::string>& call_ids) {
  if (!reply) return reply;
  auto made_up = call_ids.begin();
  for (ToolCall& call : reply->tool_calls)
    if (call.id.empty() && made_up != call_ids.end()) call.id = *made_up++;
  return reply;
}

/// A reply with a call that is not whole, as a client has it: its arguments are no JSON, so they are a text.
Message told_message(const ReplyMessage& reply, const std::vector<std::string>& call_ids) {
  JsonWriter calls('[');
  auto made_up = call_ids.begin();
  for (const ReplyCall& call : reply.calls) {
    const bool has_made_up = call.id.empty() && made_up != call_ids.end();
    const std::string id = has_made_up ? *made_up++ : utf8::repair(call.id);
    JsonWriter function('{'), made('{');
    function.text("name", utf8::repair(call.name)).text("arguments", utf8::repair(call.arguments));
    calls.item(made.text("id", id).text("type", "function").raw("function", function.take()).take());
  }
  return {.role = "assistant",
          .content = utf8::repair(reply.content),
          .reasoning_content = utf8::repair(reply.reasoning),
          .members = {{"tool_calls", calls.take()}}};
}

}  // namespace

std::string context_id(std::span<const TokenId> ids) {
  constexpr std::size_t kDigits = 32;
  return "context-" + sha256(ids_json(ids)).substr(0, kDigits);
}

std::vector<TokenId> Turn::context() const {
  const std::span<const TokenId> prompt = prompt_.session.ids();
  std::vector<TokenId> ids(prompt.begin(), prompt.end());
  ids.insert(ids.end(), result_.sampled.begin(), result_.sampled.end());
  return ids;
}

std::shared_ptr<const Held> Turn::keep(SessionStore& store, const std::vector<std::string>& call_ids,
                                       std::string response_id) {
  std::optional<Message> reply = result_.reply.as_message();
  const bool broken = !reply;
  if (broken) reply = told_message(result_.reply.message, call_ids);
  std::shared_ptr<Held> made = held(with_ids(std::move(reply), call_ids), call_ids, std::move(response_id));
  if (!made) return nullptr;
  made->broken = broken;
  store.keep(made, plan_->settings.hints.owner);
  return made;
}

namespace {

template <class List, class IsSame>
std::size_t shared_begin(const List& before, const List& behind, IsSame is_same) {
  const auto first_other = std::mismatch(before.begin(), before.end(), behind.begin(), behind.end(), is_same).first;
  return static_cast<std::size_t>(first_other - before.begin());
}

/// What a turn has of the one before, from which its session was copied.
Behind behind_of(const Held& from, const Session& session, std::size_t ids) {
  const std::string_view before = from.session.text(), text = session.text();
  const auto is_same_text = [](const GuardedText& one, const GuardedText& other) {
    return one.bytes.begin == other.bytes.begin && one.bytes.end == other.bytes.end && one.id == other.id &&
           one.path == other.path;
  };
  const auto is_same_reply = [](const KeptReply& one, const KeptReply& other) {
    return one.begin == other.begin && one.end == other.end && one.text.begin == other.text.begin &&
           one.text.end == other.text.end;
  };
  return {.name = from.name,
          .past = past_of(from),
          .ids = ids,
          .text = text.starts_with(before) ? before.size() : shared_begin(before, text, std::equal_to<>()),
          .messages = from.session.conversation().messages().items().size(),
          .kept = shared_begin(from.session.kept(), session.kept(), is_same_reply),
          .guarded = shared_begin(from.session.guarded(), session.guarded(), is_same_text)};
}

}  // namespace

std::shared_ptr<Held> Turn::held(const std::vector<std::string>& call_ids, std::string response_id) {
  return held(with_ids(result_.reply.as_message(), call_ids), call_ids, std::move(response_id));
}

/// Empty: nothing has a text beside calls, or others may know the ids of the calls, as the model wrote them itself.
Key Turn::key_without_texts(const std::vector<std::string>& call_ids) const {
  const MessageKeys& keys = prompt_.keys;
  if (keys.without_texts.empty() || keys.without_texts.back().empty()) return {};
  const ReplyMessage& reply = result_.reply.message;
  const bool goes_on = prompt_.grown && (!prompt_.from->key_without_texts.empty() || !prompt_.left_out.empty());
  const bool has_text = keys.have_texts || !ascii::trimmed(reply.content).empty();
  const bool is_known = reply.calls.empty() ? goes_on : has_text && call_ids.size() == reply.calls.size();
  return is_known ? key_after_without_text(keys.without_texts.back(), reply, call_ids) : Key();
}

std::shared_ptr<Held> Turn::held(std::optional<Message> reply, const std::vector<std::string>& call_ids,
                                 std::string response_id) {
  if (!can_go_on()) return nullptr;
  if (!reply) return nullptr;
  const MessageKeys& keys = prompt_.keys;
  const Key none;
  const Held* const from = prompt_.from.get();
  Session session = take_session();
  session.append_sampled(result_.sampled);
  const std::size_t known = from && prompt_.reused > 0 ? prompt_.reused : 0;  // ids that both begin with
  const std::size_t bytes =
      (known > 0 ? from->text_bytes : 0) + bytes_of_texts(*plan_->model, session.ids().subspan(known));
  Key key = key_after(keys.whole.empty() ? none : keys.whole.back(), result_.reply.message);
  TurnName name = turn_name(prompt_.id, response_id, choice_, key);
  Behind behind = prompt_.grown ? behind_of(*from, session, known) : Behind();
  return std::make_shared<Held>(
      Held{.id = prompt_.id,
           .response_id = std::move(response_id),
           .model = plan_->model,
           .session = std::move(session),
           .name = std::move(name),
           .choice = choice_,
           .named = prompt_.named,
           .reply = std::move(*reply),
           .written = result_.reply.written,
           .start = ReplyStart{plan_->start.format, plan_->start.options},
           .key = std::move(key),
           .key_without_system =
               key_after(keys.without_system.empty() ? none : keys.without_system.back(), result_.reply.message),
           .question = keys.whole.empty() ? Key() : keys.whole.back(),
           .key_without_texts = key_without_texts(call_ids),
           .variables = prompt_.variables,
           .previous = from ? from->name : none,
           .superseded = from ? from->previous : none,
           .first = from ? (from->first.empty() ? from->name : from->first) : none,
           .behind = std::move(behind),
           .messages = keys.messages() + 1,
           .own = prompt_.alone ? from->own : plan_->settings.own,
           .text_bytes = bytes,
           .turn = from ? from->turn + 1 : 1,
           .with_tools = prompt_.with_tools,
           .now = prompt_.now});
}

std::shared_ptr<const Held> Turn::without_reply() const {
  if (session_taken_) return nullptr;
  const MessageKeys& keys = prompt_.keys;
  const Held* const from = prompt_.from.get();
  Session session = prompt_.session.copy();
  const std::size_t bytes = bytes_of_texts(*plan_->model, session.ids());
  return std::make_shared<Held>(
      Held{.id = prompt_.id,
           .model = plan_->model,
           .session = std::move(session),
           .named = prompt_.named,
           .key = keys.whole.empty() ? Key() : keys.whole.back(),
           .key_without_system = keys.without_system.empty() ? Key() : keys.without_system.back(),
           .variables = prompt_.variables,
           .messages = keys.messages(),
           .own = prompt_.alone ? from->own : plan_->settings.own,
           .text_bytes = bytes,
           .turn = from ? from->turn : 0,
           .with_tools = prompt_.with_tools,
           .now = prompt_.now});
}

}  // namespace parlance::serve
