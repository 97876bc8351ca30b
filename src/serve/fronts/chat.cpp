// Chats in the APIs of OpenAI, Anthropic and Ollama. Begin reading at chat.
#include <ctime>
#include <optional>

#include "parlance/json_writer.h"
#include "serve/fronts/apart.h"
#include "serve/fronts/chat_request.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/responses/response_events.h"
#include "serve/fronts/token_texts.h"
#include "serve/http/event_stream.h"
#include "serve/http/together.h"
#include "serve/random_id.h"
#include "serve/record/recorder.h"

namespace parlance::serve {

namespace {

constexpr ChatApi kChat = {ReplyApi::openai, "chatcmpl-", "call_"};
constexpr ChatApi kMessages = {ReplyApi::anthropic, "msg_", "toolu_"};
constexpr ChatApi kResponses = {ReplyApi::responses, "resp_", "call_"};
constexpr ChatApi kOllamaChat = {
    .api = ReplyApi::ollama, .id_prefix = "", .call_prefix = "call_", .streams_by_default = true};
constexpr ChatApi kOllamaGenerate = {
    .api = ReplyApi::ollama, .id_prefix = "", .call_prefix = "call_", .streams_by_default = true, .generate = true};

using Answers = std::vector<std::unique_ptr<struct Answer>>;

/// One choice of an answer while it is written.
struct Answer {
  Answer(Call& call, const Chat& chat, Turn& of);
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  Turn& turn;
  std::vector<std::string> call_ids{};  ///< those made up, in order
  ReplyApiWriter writer;
  TurnRecorder recorder;
};

ReplyApiOptions writer_options(const Chat& chat, const Turn& turn, std::vector<std::string>& call_ids) {
  ReplyApiOptions options = chat.written;
  options.id = chat.id;
  options.model = chat.model_name;
  options.created = static_cast<std::int64_t>(std::time(nullptr));
  options.make_call_id = [&call_ids, prefix = chat.api.call_prefix] {
    call_ids.push_back(random_id(prefix));
    return call_ids.back();
  };
  options.usage_at_start = ReplyUsage{.input_tokens = static_cast<std::int64_t>(turn.prompt_tokens()),
                                      .cached_tokens = static_cast<std::int64_t>(turn.prompt().reused)};
  options.choice = turn.choice();
  if (chat.returns_ids && turn.choice() == 0) options.prompt_token_ids = ids_json(turn.prompt().session.ids());
  options.stream_usage = chat.stream_usage;
  options.request_members = chat.members;
  options.old_functions = chat.old_functions;
  options.generate = chat.api.generate;
  return options;
}

TurnFacts facts_of(const Chat& chat) {
  return {.api = std::string(reply_api_names()[static_cast<std::size_t>(chat.api.api)]),
          .generate = chat.api.generate,
          .id = chat.id};
}

/// The request as it is recorded.
const std::string& request_text(const Call& call, const Chat& chat) {
  return chat.rewritten.empty() ? call.exchange.request().body : chat.rewritten;
}

Answer::Answer(Call& call, const Chat& chat, Turn& of)
    : turn(of),
      writer(chat.api.api, writer_options(chat, of, call_ids)),
      recorder(call.gateway, facts_of(chat), of, request_text(call, chat), call_ids) {}

/// Engines that give text alone have only their own count.
std::int64_t sampled_by(const Turn& turn) {
  return turn.sampled().empty() ? turn.end().sampled_tokens : static_cast<std::int64_t>(turn.sampled().size());
}

ReplyUsage usage_of(const Turn& turn) {
  const auto input = static_cast<std::int64_t>(turn.prompt_tokens());
  return {.input_tokens = input,
          .output_tokens = sampled_by(turn),
          .cached_tokens = turn.end().evaluated ? std::max<std::int64_t>(0, input - *turn.end().evaluated)
                                                : static_cast<std::int64_t>(turn.prompt().reused),
          .reasoning_tokens = static_cast<std::int64_t>(turn.reasoning_tokens())};
}

/// Ollama's, from which a request may go on.
bool has_context(const Chat& chat, const Turn& turn) { return chat.api.generate && turn.can_go_on(); }

ReplyOutcome outcome_of(const Chat& chat, const Turn& turn) {
  const TurnTimes& times = turn.times();
  return {.length = turn.length(),
          .usage = usage_of(turn),
          .stop_sequence = turn.stop_text(),
          .stopped = turn.stopped(),
          .times = ReplyTimes{.total = times.whole.count(),
                              .prompt = times.first_token.count(),
                              .eval = (times.whole - times.first_token).count()},
          .context = has_context(chat, turn) ? ids_json(turn.context()) : std::string()};
}

/// Headers that say what the session did.
void add_headers(Exchange& exchange, const Turn& turn) {
  const PreparedPrompt& prompt = turn.prompt();
  exchange.add_header("X-Session-Id", prompt.id);
  exchange.add_header("X-Parlance-Prompt-Tokens", std::to_string(turn.prompt_tokens()));
  exchange.add_header("X-Parlance-Reused-Tokens", std::to_string(prompt.reused));
  if (prompt.broken) exchange.add_header("X-Parlance-Prefix-Break", prompt.broken->cause);
  if (!turn.unknown().empty()) exchange.add_header("X-Parlance-Unknown-Text", std::to_string(turn.unknown().size()));
}

/// Text that the model cannot read.
std::string unknown_json(std::span<const UnknownText> unknown) {
  JsonWriter list('[');
  for (const UnknownText& one : unknown) {
    JsonWriter made('{');
    list.item(made.text("path", one.path).text("text", one.text).flag("dropped", one.dropped).take());
  }
  return list.take();
}

/// The member `parlance` of an answer that was asked for it.
std::string explanation(const Chat& chat) {
  const Turn& turn = chat.turns.front();
  const PreparedPrompt& prompt = turn.prompt();
  JsonWriter made('{');
  made.text("session", prompt.id).number("prompt_tokens", static_cast<std::int64_t>(turn.prompt_tokens()));
  made.number("reused_tokens", static_cast<std::int64_t>(prompt.reused));
  if (turn.end().evaluated) made.number("evaluated_tokens", *turn.end().evaluated);
  made.flag("grammar", turn.has_grammar());
  prompt.broken ? made.raw("prefix_break", break_json(*prompt.broken)) : made.null("prefix_break");
  made.raw("unknown_text", unknown_json(turn.unknown()));
  made.raw("losses", losses_json(chat.losses)).raw("grammar_notes", chat.notes);
  return made.raw("sampled_ids", ids_json(turn.sampled())).take();
}

/// An object with one more member at its end.
std::string with_member(std::string json, std::string_view name, const std::string& value) {
  json.pop_back();
  append_json_string(json += ", ", name);
  return json.append(": ").append(value).append("}");
}

void count(const Call& call, const Chat& chat, const Turn& turn) {
  Gateway& gateway = call.gateway;
  Metrics& metrics = gateway.metrics();
  metrics.tokens.add("kind=\"prompt\"", turn.prompt_tokens());
  metrics.tokens.add("kind=\"reused\"", turn.prompt().reused);
  metrics.tokens.add("kind=\"evaluated\"", static_cast<std::uint64_t>(turn.end().evaluated.value_or(0)));
  metrics.tokens.add("kind=\"sampled\"", static_cast<std::uint64_t>(sampled_by(turn)));
  if (const std::uint64_t kept = turn.prompt().session.guarded_count() - turn.prompt().guarded_before; kept > 0)
    metrics.guarded.add("", kept);
  metrics.first_token.add(std::chrono::duration<double>(turn.times().first_token).count());
  for (const ReplyDiagnostic& fault : turn.message().diagnostics)
    metrics.malformed.add("fault=\"" + std::string(name_of(fault.fault)) + "\"");
  gateway.log().say(LogLevel::info, "turn", [&](JsonWriter& line) {
    line.text("session", turn.prompt().id).text("request", call.id);
    line.text("model", chat.model->name).text("id", chat.id);
    line.number("prompt_tokens", static_cast<std::int64_t>(turn.prompt_tokens()));
    line.number("reused", static_cast<std::int64_t>(turn.prompt().reused));
    if (turn.end().evaluated) line.number("evaluated", *turn.end().evaluated);
    line.number("sampled", sampled_by(turn));
  });
}

void say_break(Gateway& gateway, const Turn& turn) {
  const std::optional<PrefixBreak>& broken = turn.prompt().broken;
  if (!broken) return;
  gateway.metrics().prefix_breaks.add("cause=\"" + broken->cause + "\"");
  gateway.log().say(LogLevel::warning, "prefix_break", [&](JsonWriter& line) {
    line.text("session", turn.prompt().id);
    write_break(line, *broken);
  });
}

LossesOf losses_of(const Call& call, const Chat& chat) {
  return {.session = chat.turns.front().prompt().id,
          .request = call.id,
          .model = chat.model->name,
          .id = chat.id,
          .looked_for = chat.looks_for_losses};
}

void add_late_loss(const Call& call, Chat& chat, Loss loss) {
  Losses found = {std::move(loss)};
  say_losses(call.gateway, losses_of(call, chat), found);
  chat.losses.push_back(std::move(found.front()));
}

/// Answers to `functions` have a place for one call, and only an engine that takes grammars is held to one.
void find_calls_left_out(const Call& call, Chat& chat, const Turn& turn) {
  const std::size_t calls = turn.message().calls.size();
  if (!chat.old_functions || calls < 2) return;
  std::string what = std::to_string(calls - 1) + " of the reply's " + std::to_string(calls) +
                     " calls left out: an answer to functions has a place for one";
  add_late_loss(call, chat, {LossKind::lost, "call", "functions", std::move(what), {}});
}

/// The model reads what it said, and the client has to know that.
void tell_texts_left_out(const Call& call, Chat& chat, const Turn& turn) {
  const std::vector<std::string>& paths = turn.prompt().left_out;
  if (paths.empty() || turn.choice() != 0) return;
  const std::string what =
      "the request leaves out the text beside the calls of " +
      (paths.size() == 1 ? "this message" : std::to_string(paths.size()) + " messages, of which this is the last") +
      "; the prompt has it as it was sampled";
  add_late_loss(call, chat, {LossKind::lost, "content", paths.back(), what, {}});
}

/// An engine that cuts a prompt for which its context has no room may say so by its figures alone. Its own tokens
/// around the prompt, and the pieces of text between them, may be others.
void find_prompt_cut(const Call& call, Chat& chat, const Turn& turn) {
  if (turn.choice() != 0) return;
  const auto sent = static_cast<std::int64_t>(turn.prompt_tokens());
  const std::int64_t read = turn.end().prompt_tokens;
  const std::int64_t may_differ = 16 + sent / 8;
  if (chat.model->backend->facts().gives_ids || read <= 0 || read + may_differ >= sent) return;
  std::string what = "the engine read " + std::to_string(read) + " of the prompt's " + std::to_string(sent) + " tokens";
  add_late_loss(call, chat, {LossKind::lost, "message", "messages", std::move(what), {}});
}

/// Servers of text may give none, and do not say so.
void find_logprobs_missing(const Call& call, Chat& chat, const Turn& turn) {
  if (!chat.logprobs || turn.choice() != 0 || turn.end().sampled_tokens == 0 || turn.has_logprobs()) return;
  add_late_loss(call, chat, {LossKind::lost, "setting", "logprobs", "no effect: the engine gave none", {}});
}

/// Before the client has the end of its answer, since it may go on at once.
Task<> finish(Call& call, Chat& chat, Answer& answer) {
  count(call, chat, answer.turn);
  find_calls_left_out(call, chat, answer.turn);
  tell_texts_left_out(call, chat, answer.turn);
  find_prompt_cut(call, chat, answer.turn);
  find_logprobs_missing(call, chat, answer.turn);
  const std::string id = has_context(chat, answer.turn) ? context_id(answer.turn.context()) : chat.id;
  co_await answer.recorder.done(answer.turn.keep(call.gateway.sessions(), answer.call_ids, id));
}

/// The prompt is one, the replies are all.
ReplyUsage usage_of(const Answers& answers) {
  ReplyUsage usage = usage_of(answers.front()->turn);
  usage.output_tokens = usage.reasoning_tokens = 0;
  for (const auto& answer : answers) {
    const ReplyUsage one = usage_of(answer->turn);
    usage.output_tokens += one.output_tokens;
    usage.reasoning_tokens += one.reasoning_tokens;
  }
  return usage;
}

std::string whole_json(const Chat& chat, const Answers& answers) {
  std::vector<const ReplyApiWriter*> writers;
  for (const auto& answer : answers) writers.push_back(&answer->writer);
  std::string json = ReplyApiWriter::choices_to_json(writers, usage_of(answers));
  return chat.explain ? with_member(std::move(json), "parlance", explanation(chat)) : json;
}

/// Samples one choice; its events go to `send`.
Task<> sample(const Chat& chat, Answer& answer, const ReplyApiSink& send, const Turn::Flush& flush) {
  const Turn::Take take = [&](const ReplyEvent& event) { answer.writer.add(event, send); };
  const Turn::TakeTokens take_tokens = [&](std::span<const SampledToken> tokens) {
    if (chat.logprobs) tell_logprobs(answer.writer, *chat.model->tokenizer, tokens, chat.names_tokens);
    for (const SampledToken& token : tokens) answer.writer.add_tokens(std::span(&token.id, 1));
  };
  co_await answer.recorder.run(take, flush, take_tokens);
}

/// What the request gave; "": it has no such member.
std::string_view request_member(const Chat& chat, std::string_view name) {
  for (const auto& [given, json] : chat.members)
    if (given == name) return json;
  return {};
}

/// What a request and its answer add to the conversation that it goes on.
std::vector<StoredItem> items_to_add(const Chat& chat, const std::string& answer) {
  std::vector<StoredItem> items;
  const auto add = [&items](Value list) {
    for (const Value& item : list.items()) items.push_back({std::string(item["id"].text()), json_text(item)});
  };
  Document input, said;
  if (input.parse(request_member(chat, "input"))) add(input.root());
  if (said.parse(answer)) add(said.root()["output"]);
  return items;
}

/// Responses can be asked for again by their ids, unless the request has `store: false`; a conversation grows also
/// then. Throws SharedFailure.
void keep_for_client(Gateway& gateway, const Chat& chat, StoredResponse made) {
  if (!chat.conversation.empty()) {
    const std::vector<StoredItem> items = items_to_add(chat, made.json);
    const auto change = [&items](StoredConversation& to) { add_items(to, items); };
    gateway.conversations(true).change(chat.conversation, made.owner, change);
  }
  if (request_member(chat, "store") != "false") gateway.responses(true).keep(std::move(made));
}

Task<> keep_for_client(Call& call, const Chat& chat, const Answer& answer, std::vector<StoredPiece> pieces = {}) {
  if (chat.api.api != ReplyApi::responses) co_return;
  Gateway& gateway = call.gateway;
  StoredResponse made{.id = chat.id, .owner = owner_of(call.exchange.request()), .json = answer.writer.to_json()};
  made.input = request_member(chat, "input");
  made.pieces = std::move(pieces);
  const auto keep = [&] {
    keep_for_client(gateway, chat, std::move(made));
    return true;
  };
  if (gateway.shared() != nullptr) {
    co_await in_pool(gateway.shared()->pool(), keep);
  } else {
    keep();
  }
}

Task<> answer_whole(Call& call, Chat& chat, Answers& answers) {
  const Turn::Flush flush = []() -> Task<> { co_return; };
  const ReplyApiSink nobody;
  const auto choice = [&](std::size_t number) { return sample(chat, *answers[number], nobody, flush); };
  for (const auto& answer : answers) answer->writer.begin();
  co_await together(answers.size(), choice);
  for (const auto& answer : answers) answer->writer.finish({}, outcome_of(chat, answer->turn));
  for (const auto& answer : answers) co_await finish(call, chat, *answer);
  co_await keep_for_client(call, chat, *answers.front());
  co_await call.exchange.answer(200, "application/json", whole_json(chat, answers));
}

/// A streamed answer, and what its choices share.
struct Streamed {
  Call& call;
  Chat& chat;
  Answers& answers;
  EventStream& stream;
  std::size_t unfinished;
  std::vector<StoredPiece> pieces{};  ///< of an answer that is stored

  ReplyApiSink sink() {
    return [this](const ReplyApiEvent& event) { append(stream.out(), event); };
  }
  void append(std::string& out, const ReplyApiEvent& event) {
    append_stream_event(out, chat.api.api, event);
    if (chat.api.api == ReplyApi::responses) note_piece(event, pieces);
  }
};

Task<> stream_choice(Streamed& streamed, Answer& answer) {
  const ReplyApiSink send = streamed.sink();
  const Turn::Flush flush = [&streamed] { return streamed.stream.flush(); };
  co_await sample(streamed.chat, answer, send, flush);
  Gateway& gateway = streamed.call.gateway;
  const bool waits = gateway.capture() != nullptr || gateway.shared() != nullptr;
  if (waits) co_await flush();  // before the disk or Redis is waited for
  ReplyOutcome outcome = outcome_of(streamed.chat, answer.turn);
  if (streamed.answers.size() > 1) {  // the last one tells the usage of all
    outcome.usage.reset();
    if (--streamed.unfinished == 0) outcome.usage = usage_of(streamed.answers);
  }
  // Other choices send what is in the stream meanwhile, so the end comes into it behind the record.
  std::string end;
  const auto kept = [&](const ReplyApiEvent& event) { streamed.append(end, event); };
  answer.writer.finish(kept, outcome);
  co_await finish(streamed.call, streamed.chat, answer);
  co_await keep_for_client(streamed.call, streamed.chat, answer, std::move(streamed.pieces));
  streamed.stream.out() += end;
}

std::string explanation_chunk(const Chat& chat) {
  const std::string chunk = R"({"object": "chat.completion.chunk", "choices": []})";
  return with_member(with_member(chunk, "id", "\"" + chat.id + "\""), "parlance", explanation(chat));
}

Task<> answer_stream(Call& call, Chat& chat, Answers& answers) {
  const ReplyApi api = chat.api.api;
  const KeepAlive alive{keep_alive_of_stream(api), call.gateway.keep_alive()};
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  EventStream stream(executor, call.exchange, content_type_of_stream(api), alive);
  Streamed streamed{call, chat, answers, stream, answers.size()};
  const ReplyApiSink send = streamed.sink();
  for (const auto& answer : answers) answer->writer.begin(send);
  const auto choice = [&](std::size_t number) { return stream_choice(streamed, *answers[number]); };
  std::optional<ReplyApiError> failed;
  try {
    co_await stream.run(answers.size(), choice);
  } catch (...) {
    if (!stream.begun()) throw;
    failed = error_of(call, chat.turns.front().prompt().id, std::current_exception());
  }
  if (failed) {
    for (const auto& answer : answers) answer->recorder.give_up();
    answers.front()->writer.fail(*failed, send);
    co_await stream.end();
    co_return;
  }
  if (chat.explain && api == ReplyApi::openai) append_stream_event(stream.out(), api, {"", explanation_chunk(chat)});
  co_await stream.end(end_of_stream(api));
}

/// Ollama's clients ask for a model to be loaded by a request without messages.
Task<> answer_load(Call& call, const Chat& chat) {
  ReplyApiWriter writer(ReplyApi::ollama, {.model = chat.model_name,
                                           .created = static_cast<std::int64_t>(std::time(nullptr)),
                                           .generate = chat.api.generate});
  writer.begin();
  writer.finish({}, {.done_reason = chat.loads});
  co_await call.exchange.answer(200, "application/json", writer.to_json());
}

using ChatPtr = std::unique_ptr<Chat>;

Task<> answer_chat(Call& call, Chat& chat);

Task<> chat(Call& call, const ChatApi& api) {
  const auto read = [&call, &api](bool may_wait) { return read_chat(call, api, may_wait); };
  const std::optional<ChatPtr> made = co_await apart_or_refused<ChatPtr>(call, api.api, read);
  if (made) co_await answer_chat(call, **made);
}

Task<> answer_chat(Call& call, Chat& chat) {
  if (!chat.loads.empty()) {
    co_await answer_load(call, chat);
    co_return;
  }
  add_headers(call.exchange, chat.turns.front());
  say_break(call.gateway, chat.turns.front());
  say_losses(call.gateway, losses_of(call, chat), chat.losses);
  call.gateway.metrics().prepare.add(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - call.begun).count());
  // A reply may take long, and many wait for their readers. Only a record of the turn has the request's text.
  if (call.gateway.capture() == nullptr) call.exchange.request().body = {};
  Answers answers;
  for (Turn& turn : chat.turns) answers.push_back(std::make_unique<Answer>(call, chat, turn));
  std::optional<ReplyApiError> failed;
  try {
    if (chat.stream)
      co_await answer_stream(call, chat, answers);
    else
      co_await answer_whole(call, chat, answers);
  } catch (...) {
    failed = error_of(call, chat.turns.front().prompt().id, std::current_exception());
  }
  for (const auto& answer : answers) answer->recorder.give_up();
  if (failed) co_await refuse(call.exchange, chat.api.api, *failed);
}

}  // namespace

Task<> chat_completions(Call& call) { return chat(call, kChat); }
Task<> messages(Call& call) { return chat(call, kMessages); }
Task<> responses(Call& call) { return chat(call, kResponses); }
Task<> ollama_chat(Call& call) { return chat(call, kOllamaChat); }
Task<> ollama_generate(Call& call) {
  return wants_raw(call.exchange.request().body) ? ollama_raw(call) : chat(call, kOllamaGenerate);
}

}  // namespace parlance::serve
