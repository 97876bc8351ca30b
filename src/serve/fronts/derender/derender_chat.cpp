// The answer of a chat from sampled ids. Begin reading at derender_whole_chat.
//
// Nothing is kept between the pieces of a stream: the client sends back `stream_state`, with the ids so far, and they
// are read again.
#include <algorithm>
#include <ctime>

#include "parlance/json_writer.h"
#include "serve/fronts/derender/derender.h"
#include "serve/fronts/derender/derender_delta.h"
#include "serve/fronts/derender/derender_parts.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/token_texts.h"
#include "serve/random_id.h"
#include "serve/turn/stop_finder.h"
#include "serve/turn/turn.h"

namespace parlance::serve {

namespace {

std::string finish_reason_of(const Choice& choice, Value asked, bool calls) {
  const std::string_view given = choice.value["finish_reason"].text();
  const bool named = asked["tool_choice"].is(Kind::dict);
  if (calls && !named && (given.empty() || given == "stop")) return "tool_calls";
  return std::string(given.empty() ? "stop" : given);
}

/// What a chat's ids are read with.
struct ChatReading {
  const ServedModel& model;
  Value body;
  Value asked;  ///< chat_request
  ReplyStart start{};
  bool hides = false;  ///< the reasoning, and what would tell it
};

Result<ChatReading> reading_for(const ServedModel& model, Value body) {
  const Value asked = body["chat_request"];
  if (!asked.is(Kind::dict))
    return wrong_member("chat_request", "the chat's request: without it nobody can tell calls and reasoning from text");
  Result<ChatRequest> request = model.reader.read(json_text(asked), "chat_request");
  if (!request) return request.error();
  Result<ReplyStart> start = model.reader.reply_to(*request, model.render_now());
  if (!start) return start.error();
  read_calls_as_text(*start, request->conversation);
  const Value reasoning = asked["include_reasoning"];
  return ChatReading{model, body, asked, std::move(*start), reasoning.is(Kind::boolean) && reasoning.integer == 0};
}

void read_whole(const ChatReading& reading, const Choice& choice, ReplySink sink) {
  const std::vector<std::string> texts = stops_of(choice, reading.asked);
  StopFinder stops(texts);
  const auto read = [&](const ReplyEvent& event) { stops.add(event, sink); };
  ReplyParser parser(reading.start.format, reading.start.options);
  TokenPieces pieces(reading.model);
  for (std::size_t at = 0; at < choice.read && !stops.found(); ++at) pieces.add({.id = choice.ids[at]}, parser, read);
  pieces.finish(parser, read);
  parser.finish(read);
  stops.finish(sink);
}

std::string call_json(const ReplyCall& call) {
  const std::string id = call.id.empty() ? random_id("chatcmpl-tool-") : call.id;
  const std::string function = JsonWriter('{').text("name", call.name).text("arguments", call.arguments).take();
  return JsonWriter('{').text("id", id).text("type", "function").raw("function", function).take();
}

std::string message_json(const ChatReading& reading, const ReplyMessage& message) {
  JsonWriter out('{');
  out.text("role", "assistant");
  const bool silent = message.content.empty() && !message.calls.empty();
  silent ? out.null("content") : out.text("content", message.content);
  if (!message.calls.empty()) {
    JsonWriter calls('[');
    for (const ReplyCall& call : message.calls) calls.item(call_json(call));
    out.raw("tool_calls", calls.take());
  }
  message.reasoning.empty() || reading.hides ? out.null("reasoning") : out.text("reasoning", message.reasoning);
  return out.take();
}

std::string logprobs_json(const ChatReading& reading, Value logprobs, std::span<const TokenId> before) {
  if (!is_given(logprobs) || reading.hides) return "null";
  return chat_logprobs({.model = reading.model,
                        .logprobs = logprobs,
                        .before = before,
                        .alternatives = alternatives_of(reading.asked, true)});
}

/// Is the token an end that the format itself knows? Then the parser takes it as markup.
bool drops_end(const ChatReading& reading, Value choice) {
  const std::span<const Value> ids = choice["token_ids"].items();
  if (ids.empty() || !ids.back().is_small_int()) return false;
  const std::string text = reading.model.tokenizer->token_text(static_cast<TokenId>(ids.back().integer));
  const auto has = [&text](const std::vector<std::string>& ends) {
    return std::find(ends.begin(), ends.end(), text) != ends.end();
  };
  const std::vector<ReplyMarker>& ends = reading.start.format.source().end;
  const bool known = std::any_of(ends.begin(), ends.end(), [&](const ReplyMarker& end) { return has(end.texts); });
  return !known && !has(reading.start.options.ends);
}

}  // namespace

Result<std::string> derender_whole_chat(const ServedModel& model, Value body, const std::string& name) {
  const Result<ChatReading> reading = reading_for(model, body);
  if (!reading) return reading.error();
  const Value answer = body["generate_response"];
  JsonWriter choices('[');
  std::int64_t sampled = 0;
  for (const Value& value : answer["choices"].items()) {
    const Result<Choice> choice = read_choice(model, value, reading->asked, drops_end(*reading, value));
    if (!choice) return choice.error();
    if (choice->ids.empty()) return wrong_member("generate_response.choices[].token_ids", "a list that is not empty");
    ReplyMessage message;
    const auto take = [&message](const ReplyEvent& event) { message.add(event); };
    read_whole(*reading, *choice, take);
    JsonWriter out('{');
    out.number("index", number_or(value["index"], 0)).raw("message", message_json(*reading, message));
    out.raw("logprobs", logprobs_json(*reading, value["logprobs"], {}));
    out.text("finish_reason", finish_reason_of(*choice, reading->asked, !message.calls.empty()));
    end_choice(out, *choice, reading->asked, reading->hides);
    choices.item(out.take());
    sampled += static_cast<std::int64_t>(choice->ids.size());
  }
  const bool wants_ids = flag_of(reading->asked["return_token_ids"], false);
  JsonWriter out('{');
  out.text("id", answer["request_id"].text()).text("object", "chat.completion").number("created", std::time(nullptr));
  out.text("model", name).raw("choices", choices.take());
  out.raw("usage", usage_json(number_or(body["prompt_tokens"], 0), sampled));
  out.raw("prompt_logprobs", json_or_null(answer["prompt_logprobs"]));
  out.raw("prompt_token_ids", wants_ids ? json_or_null(answer["prompt_token_ids"]) : "null");
  out.raw("kv_transfer_params", json_or_null(answer["kv_transfer_params"]));
  return out.raw("metrics", json_or_null(answer["metrics"])).take();
}

namespace {

/// The ids so far are read again, in silence; then those of this chunk.
std::string read_chunk(const ChatReading& reading, const Choice& choice, StreamState& state) {
  ChunkDelta delta(state.call_ids);
  const auto take = [&delta](const ReplyEvent& event) { delta.add(event); };
  ReplyParser parser(reading.start.format, reading.start.options);
  TokenPieces pieces(reading.model);
  for (const TokenId id : state.ids) pieces.add({.id = id}, parser, take);
  delta.live = true;
  for (std::size_t at = 0; at < choice.read; ++at) pieces.add({.id = choice.ids[at]}, parser, take);
  if (is_given(choice.value["finish_reason"])) {
    pieces.finish(parser, take);
    parser.finish(take);
  }
  state.called = state.called || delta.count > 0;
  const std::string json = delta.to_json(!state.role_sent, reading.hides);
  state.role_sent = true;
  return json;
}

}  // namespace

Result<std::string> derender_chat_chunk(const ServedModel& model, Value body, const std::string& name) {
  const Result<ChatReading> reading = reading_for(model, body);
  if (!reading) return reading.error();
  if (has_stops(reading->asked))
    return Error(ErrorCode::conversation, std::string(kNoStops)).input("chat_request.stop");
  Result<StreamState> state = StreamState::read(body["stream_state"]);
  if (!state) return state.error();
  const Result<std::optional<Value>> value = choice_of(body);
  if (!value) return value.error();
  JsonWriter choices('[');
  std::size_t added = 0;
  if (*value) {
    const Result<Choice> choice = read_choice(model, **value, reading->asked, drops_end(*reading, **value));
    if (!choice) return choice.error();
    const Value finished = (**value)["finish_reason"];
    JsonWriter out('{');
    out.number("index", number_or((**value)["index"], 0)).raw("delta", read_chunk(*reading, *choice, *state));
    out.raw("logprobs", logprobs_json(*reading, (**value)["logprobs"], state->before));
    is_given(finished) ? out.text("finish_reason", finish_reason_of(*choice, reading->asked, state->called))
                       : out.null("finish_reason");
    end_choice(out, *choice, reading->asked, reading->hides);
    choices.item(out.take());
    state->ids.insert(state->ids.end(), choice->ids.begin(), choice->ids.end());
    state->note_sampled(choice->ids);
    added = choice->ids.size();
  }
  return stream_json(chunk_json("chat.completion.chunk", body, name, choices.take()), state->to_json(added));
}

}  // namespace parlance::serve
