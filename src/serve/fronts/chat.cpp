// Chats in the APIs of OpenAI, Anthropic and Ollama. Begin reading at chat, then at answer_whole and answer_stream.
#include <ctime>
#include <optional>

#include "parlance/json.h"
#include "serve/fronts/routes.h"
#include "serve/random_id.h"
#include "serve/turn/turn.h"

namespace parlance::serve {

namespace {

/// What differs between the APIs.
struct ChatApi {
  ReplyApi api;
  Dialect dialect;
  std::string_view id_prefix;
  std::string_view call_prefix;
  bool streams_by_default = false;
};
constexpr ChatApi kChat = {ReplyApi::openai, Dialect::openai, "chatcmpl-", "call_"};
constexpr ChatApi kMessages = {ReplyApi::anthropic, Dialect::anthropic, "msg_", "toolu_"};
constexpr ChatApi kResponses = {ReplyApi::responses, Dialect::openai, "resp_", "call_"};

/// A request that was read and can be answered.
struct Chat {
  const ChatApi& api;
  const ServedModel& model;
  std::string model_name;  ///< as the client calls it
  Turn turn;
  bool stream = false;
  std::string id{};
  std::vector<std::string> call_ids{};  ///< those made up, in order
};

/// The whole request as values, for what is not of the conversation.
Result<Document> parsed(const std::string& body) {
  Document document;
  if (Result<void> read = document.parse(body); !read) return read.error();
  if (!document.root().is(Kind::dict)) return Error(ErrorCode::conversation, "the request is no object");
  return document;
}

/// Clients name their sessions in different ways.
SessionHints hints_of(const HttpRequest& request, Value body) {
  SessionHints hints{.owner = owner_of(request)};
  for (const std::string_view header : {"x-session-id", "session-id", "x-session-affinity"}) {
    if (hints.session.empty()) hints.session = request.header(header);
  }
  if (hints.session.empty()) hints.session = body["prompt_cache_key"].text();
  hints.response = body["previous_response_id"].text();
  constexpr std::size_t kLongest = 256;
  hints.session.resize(std::min(hints.session.size(), kLongest));
  return hints;
}

/// How many alternatives of each token are asked for.
std::optional<unsigned> logprobs_of(Value body) {
  const Value wanted = body["logprobs"], top = body["top_logprobs"];
  const unsigned most =
      top.is_small_int() && top.integer > 0 ? static_cast<unsigned>(std::min<std::int64_t>(top.integer, 20)) : 0;
  const bool on = wanted.is(Kind::boolean) ? wanted.integer != 0 : most > 0;
  return on ? std::optional(most) : std::nullopt;
}

Result<Chat> read_chat(Call& call, const ChatApi& api) {
  const std::string& text = call.exchange.request().body;
  const Result<Document> document = parsed(text);
  if (!document) return document.error();
  const Value body = document->root();
  const std::string name(body["model"].text());
  const ServedModel* const model = call.gateway.model_named(name);
  if (model == nullptr) {
    return Error(ErrorCode::no_template, "there is no model '" + name + "' here")
        .input("model")
        .hint("GET /v1/models lists them");
  }
  Result<SamplingSettings> sampling = read_sampling(body);
  if (!sampling) return sampling.error();
  Result<ChatRequest> request = model->reader.read(text, "the request");
  if (!request) return request.error();
  const std::string id = random_id(api.id_prefix);
  Result<Turn> turn = Turn::plan(*model, call.gateway.sessions(), std::move(*request),
                                 {.sampling = std::move(*sampling),
                                  .hints = hints_of(call.exchange.request(), body),
                                  .new_session = random_id("session-"),
                                  .logprobs = logprobs_of(body)});
  if (!turn) return turn.error();
  const Value stream = body["stream"];
  Chat chat{api, *model, name.empty() ? model->name : name, std::move(*turn)};
  chat.stream = stream.is(Kind::boolean) ? stream.integer != 0 : api.streams_by_default;
  chat.id = id;
  return chat;
}

ReplyApiWriter writer_for(Chat& chat) {
  return ReplyApiWriter(chat.api.api, {.id = chat.id,
                                       .model = chat.model_name,
                                       .created = static_cast<std::int64_t>(std::time(nullptr)),
                                       .make_call_id = [&chat] {
                                         chat.call_ids.push_back(random_id(chat.api.call_prefix));
                                         return chat.call_ids.back();
                                       }});
}

ReplyOutcome outcome_of(const Turn& turn) {
  const auto input = static_cast<std::int64_t>(turn.prompt_tokens());
  return {.length = turn.length(), .usage = ReplyUsage{input, static_cast<std::int64_t>(turn.sampled().size())}};
}

/// Headers that say what the session did.
void add_headers(Exchange& exchange, const Turn& turn) {
  const PreparedPrompt& prompt = turn.prompt();
  exchange.add_header("X-Session-Id", prompt.id);
  exchange.add_header("X-Parlance-Prompt-Tokens", std::to_string(turn.prompt_tokens()));
  exchange.add_header("X-Parlance-Reused-Tokens", std::to_string(prompt.reused));
  if (prompt.broken) exchange.add_header("X-Parlance-Prefix-Break", prompt.broken->cause);
}

void count(Gateway& gateway, const Chat& chat) {
  Metrics& metrics = gateway.metrics();
  const Turn& turn = chat.turn;
  metrics.tokens.add("kind=\"prompt\"", turn.prompt_tokens());
  metrics.tokens.add("kind=\"reused\"", turn.prompt().reused);
  metrics.tokens.add("kind=\"evaluated\"", static_cast<std::uint64_t>(turn.end().evaluated.value_or(0)));
  metrics.tokens.add("kind=\"sampled\"", turn.sampled().size());
  for (const ReplyDiagnostic& fault : turn.message().diagnostics)
    metrics.malformed.add("fault=\"" + std::string(name_of(fault.fault)) + "\"");
  gateway.log().say(LogLevel::info, "turn", [&](JsonWriter& line) {
    line.text("session", turn.prompt().id).text("model", chat.model.name).text("id", chat.id);
    line.number("prompt_tokens", static_cast<std::int64_t>(turn.prompt_tokens()));
    line.number("reused", static_cast<std::int64_t>(turn.prompt().reused));
    if (turn.end().evaluated) line.number("evaluated", *turn.end().evaluated);
    line.number("sampled", static_cast<std::int64_t>(turn.sampled().size()));
  });
}

void say_break(Gateway& gateway, const Turn& turn) {
  const std::optional<PrefixBreak>& broken = turn.prompt().broken;
  if (!broken) return;
  gateway.metrics().prefix_breaks.add("cause=\"" + broken->cause + "\"");
  gateway.log().say(LogLevel::warning, "prefix_break", [&](JsonWriter& line) {
    line.text("session", turn.prompt().id).text("cause", broken->cause).text("template", broken->template_place);
    line.text("input", broken->path).number("kept", static_cast<std::int64_t>(broken->kept));
    line.number("lost", static_cast<std::int64_t>(broken->lost)).flag("volatile_line", broken->volatile_line);
  });
}

/// Before the client has the end of its answer, since it may go on at once.
void finish(Call& call, Chat& chat) {
  count(call.gateway, chat);
  chat.turn.keep(call.gateway.sessions(), chat.call_ids, chat.id);
}

Task<> answer_whole(Call& call, Chat& chat) {
  ReplyApiWriter writer = writer_for(chat);
  writer.begin();
  const Turn::Take take = [&writer](const ReplyEvent& event) { writer.add(event); };
  const Turn::Flush flush = []() -> Task<> { co_return; };
  co_await chat.turn.run(take, flush);
  writer.finish({}, outcome_of(chat.turn));
  finish(call, chat);
  co_await call.exchange.answer(200, "application/json", writer.to_json());
}

Task<> answer_stream(Call& call, Chat& chat) {
  std::string out;
  const ReplyApiSink send = [&out](const ReplyApiEvent& event) { append_server_sent_event(out, event); };
  ReplyApiWriter writer = writer_for(chat);
  writer.begin(send);
  const Turn::Take take = [&](const ReplyEvent& event) { writer.add(event, send); };
  const Turn::Flush flush = [&]() -> Task<> {
    if (!call.exchange.begun()) co_await call.exchange.begin(200, "text/event-stream; charset=utf-8");
    co_await call.exchange.write(out);
    out.clear();
  };
  co_await chat.turn.run(take, flush);
  writer.finish(send, outcome_of(chat.turn));
  finish(call, chat);
  out += end_of_server_sent_events(chat.api.api);
  if (!call.exchange.begun()) co_await call.exchange.begin(200, "text/event-stream; charset=utf-8");
  co_await call.exchange.end(out);
}

/// An error behind the first bytes of an answer is an event.
Task<> refuse_late(Call& call, const ChatApi& api, const Refusal& refusal) {
  if (!call.exchange.begun()) {
    co_await refuse(call.exchange, api.dialect, refusal);
    co_return;
  }
  std::string out;
  const std::string body = error_body(api.dialect, refusal);
  append_server_sent_event(out, {api.dialect == Dialect::anthropic ? "error" : "", body});
  co_await call.exchange.write(out);
  co_await call.exchange.end();
}

/// A server without an engine renders, and reads what others sampled.
constexpr std::string_view kNoEngine =
    "this server has no engine (--backend), so it answers no chat; /v1/chat/completions/render makes the prompt's ids";

Task<> chat(Call& call, const ChatApi& api) {
  if (!call.gateway.has_engine()) {
    const Refusal refusal{.status = 503, .message = std::string(kNoEngine), .code = "no_engine"};
    co_await refuse(call.exchange, api.dialect, refusal);
    co_return;
  }
  Result<Chat> read = read_chat(call, api);
  if (!read) {
    co_await refuse(call.exchange, api.dialect, refusal_of(read.error()));
    co_return;
  }
  Chat& chat = *read;
  add_headers(call.exchange, chat.turn);
  say_break(call.gateway, chat.turn);
  call.gateway.metrics().prepare.add(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - call.begun).count());
  std::optional<Refusal> failed;
  try {
    if (chat.stream)
      co_await answer_stream(call, chat);
    else
      co_await answer_whole(call, chat);
  } catch (const EngineFailure& failure) {
    failed = refusal_of(failure);
    call.gateway.metrics().engine_failures.add("kind=\"" + std::string(name_of(failure.kind())) + "\"");
    call.gateway.log().say(LogLevel::error, "engine_failure", [&](JsonWriter& line) {
      line.text("session", chat.turn.prompt().id).text("kind", name_of(failure.kind())).text("message", failure.what());
    });
  }
  if (failed) co_await refuse_late(call, api, *failed);
}

}  // namespace

Task<> chat_completions(Call& call) { return chat(call, kChat); }
Task<> messages(Call& call) { return chat(call, kMessages); }
Task<> responses(Call& call) { return chat(call, kResponses); }
Task<> ollama_chat(Call& call) { return chat(call, kChat); }

}  // namespace parlance::serve
