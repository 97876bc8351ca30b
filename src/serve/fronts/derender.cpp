// vLLM's derender: sampled ids become the answer of an API. Begin reading at derender_chat_completions.
//
// Nothing is kept between the pieces of a stream: the client sends back `stream_state`, with the ids so far, and they
// are read again.
#include <ctime>

#include "parlance/json.h"
#include "serve/backends/ids_json.h"
#include "serve/fronts/request_parts.h"
#include "serve/fronts/routes.h"
#include "serve/fronts/token_texts.h"
#include "serve/random_id.h"
#include "serve/turn/stop_finder.h"
#include "serve/turn/turn.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kMostTokens = std::size_t{1} << 22;
constexpr std::string_view kNoStops =
    "stop texts cannot be cut from a stream that was sent in part: derender the whole reply, or let the engine do it";

bool is_set(Value value) { return !value.is_undefined() && !value.is_none(); }

Error wrong_member(std::string path, std::string_view wanted) {
  return Error(ErrorCode::conversation, path + " must be " + std::string(wanted)).input(path);
}

Result<std::vector<TokenId>> ids_in(Value list, const std::string& path) {
  std::vector<TokenId> ids;
  if (is_set(list) && !list.is_sequence()) return wrong_member(path, "a list of ids");
  if (list.items().size() > kMostTokens) return wrong_member(path, "shorter");
  for (const Value& id : list.items()) {
    if (!id.is_small_int() || id.integer < 0 || id.integer > INT32_MAX) return wrong_member(path, "a list of ids");
    ids.push_back(static_cast<TokenId>(id.integer));
  }
  return ids;
}

std::string json_or_null(Value value) { return is_set(value) ? json_text(value) : "null"; }

/// A number to which many others can be added.
std::int64_t number_or(Value value, std::int64_t other) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  return value.is_small_int() && value.integer >= -kMost && value.integer <= kMost ? value.integer : other;
}

std::string usage_json(std::int64_t prompt, std::int64_t sampled) {
  JsonWriter out('{');
  out.number("prompt_tokens", prompt).number("total_tokens", prompt + sampled);
  return out.number("completion_tokens", sampled).take();
}

/// The usage of a chunk, where the engine told one.
std::string usage_of_chunk(Value body) {
  const Value usage = body["generate_chunk"]["usage"];
  if (!is_set(usage)) return "null";
  const std::int64_t prompt = number_or(body["prompt_tokens"], number_or(usage["prompt_tokens"], 0));
  return usage_json(prompt, number_or(usage["completion_tokens"], 0));
}

/// One choice of an engine's answer.
struct Choice {
  Value value;
  std::vector<TokenId> ids;  ///< all that were sampled
  std::size_t read = 0;      ///< so many of them are text: the token that stopped the reply may not be
  std::string stop_reason = "null";
  bool stopped = false;  ///< by itself or at a stop text, not by a limit
};

bool names(Value list, TokenId id) {
  for (const Value& one : list.items()) {
    if (one.is_small_int() && one.integer == id) return true;
  }
  return false;
}

/// `drops_stop`: the token that ends the reply is no part of its text.
Result<Choice> read_choice(const ServedModel& model, Value value, Value asked, bool drops_stop) {
  Result<std::vector<TokenId>> ids = ids_in(value["token_ids"], "token_ids");
  if (!ids) return ids.error();
  Choice choice{value, std::move(*ids)};
  choice.read = choice.ids.size();
  const Value reason = value["stop_reason"];
  choice.stop_reason = json_or_null(reason);
  choice.stopped = value["finish_reason"].text() == "stop";
  if (!choice.stopped || choice.ids.empty() || reason.is_string()) return choice;
  const TokenId last = choice.ids.back();
  const bool own = !flag_of(asked["ignore_eos"], false) && model.is_stop(last);
  const bool is_stop = reason.is_small_int() ? reason.integer == last : own || names(asked["stop_token_ids"], last);
  const bool is_primary = model.tokenizer->facts().eos == last;
  if (is_stop && !is_set(reason) && !is_primary) choice.stop_reason = std::to_string(last);
  if (is_stop && drops_stop && !flag_of(asked["include_stop_str_in_output"], false)) --choice.read;
  return choice;
}

/// The texts at which a whole reply may have stopped.
std::vector<std::string> stops_of(const Choice& choice, Value asked) {
  const Value reason = choice.value["stop_reason"];
  if (!choice.stopped || reason.is_small_int()) return {};
  if (reason.is_string()) return {std::string(reason.text())};
  std::vector<std::string> stops;
  const Value given = asked["stop"];
  if (given.is_string()) stops.emplace_back(given.text());
  for (const Value& one : given.items()) stops.emplace_back(one.text());
  std::erase(stops, std::string());
  return stops;
}

std::string finish_reason_of(const Choice& choice, Value asked, bool calls) {
  const std::string_view given = choice.value["finish_reason"].text();
  const bool named = asked["tool_choice"].is(Kind::dict);
  if (calls && !named && (given.empty() || given == "stop")) return "tool_calls";
  return std::string(given.empty() ? "stop" : given);
}

/// How many alternatives of a token the API gives; unset: all that the engine gave.
std::optional<std::size_t> alternatives_of(Value asked, bool is_chat) {
  if (is_set(asked["logprob_token_ids"])) return std::nullopt;
  const Value wanted = asked["logprobs"];
  if (is_chat && !flag_of(wanted, false)) return std::nullopt;
  if (!is_chat && !wanted.is_small_int()) return std::nullopt;
  const std::int64_t most = is_chat ? number_or(asked["top_logprobs"], 0) : number_or(wanted, 0);
  if (most == -1) return std::nullopt;
  return static_cast<std::size_t>(std::max<std::int64_t>(most + (is_chat ? 0 : 1), 0));
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
  if (!is_set(logprobs) || reading.hides) return "null";
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

/// The members that every choice ends with.
void end_choice(JsonWriter& out, const Choice& choice, Value asked, bool hides) {
  out.raw("stop_reason", choice.stop_reason);
  const bool wants_ids = flag_of(asked["return_token_ids"], false) && !hides;
  out.raw("token_ids", wants_ids ? json_text(choice.value["token_ids"]) : "null");
}

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

/// Collects what one chunk adds to the message.
class ChunkDelta {
 public:
  explicit ChunkDelta(std::vector<std::string>& call_ids) : call_ids_(call_ids) {}

  void add(const ReplyEvent& event) {
    using Kind = ReplyEvent::Kind;
    if (event.kind == Kind::call_begin) begin_call(event);
    if (event.kind == Kind::turn || !live) return;
    if (event.kind == Kind::content) content += event.text;
    if (event.kind == Kind::reasoning) reasoning += event.text;
    if (event.kind == Kind::arguments || event.kind == Kind::broken) call(event.call).arguments += event.text;
  }
  std::string to_json(bool with_role, bool hides) const {
    JsonWriter out('{');
    with_role ? out.text("role", "assistant") : out.null("role");
    content.empty() ? out.null("content") : out.text("content", content);
    reasoning.empty() || hides ? out.null("reasoning") : out.text("reasoning", reasoning);
    JsonWriter list('[');
    for (const Call& one : calls) {
      JsonWriter function('{'), item('{');
      if (one.begins) function.text("name", one.name);
      function.text("arguments", one.arguments);
      if (one.begins) item.text("id", one.id).text("type", "function");
      list.item(item.number("index", one.number).raw("function", function.take()).take());
    }
    if (!calls.empty()) out.raw("tool_calls", list.take());
    return out.take();
  }

  bool live = false;  ///< what is added is new
  std::uint32_t count = 0;

 private:
  struct Call {
    std::uint32_t number = 0;
    bool begins = false;
    std::string id{}, name{}, arguments{};
  };
  Call& call(std::uint32_t number) {
    if (calls.empty() || calls.back().number != number) calls.push_back({.number = number});
    return calls.back();
  }
  void begin_call(const ReplyEvent& event) {
    const std::size_t number = event.call;
    if (number >= call_ids_.size())
      call_ids_.push_back(event.detail.empty() ? random_id("chatcmpl-tool-") : std::string(event.detail));
    count = event.call + 1;
    if (!live) return;
    Call& begun = call(event.call);
    begun.begins = true;
    begun.name = std::string(event.text);
    begun.id = call_ids_[number];
  }

  std::vector<std::string>& call_ids_;
  std::string content, reasoning;
  std::vector<Call> calls;
};

/// What the client carries from piece to piece: DerenderStreamState.
struct StreamState {
  std::vector<TokenId> ids;     ///< chat: all so far; completions: those with half a character
  std::vector<Value> sizes;     ///< of the chunks that these came in
  std::vector<TokenId> before;  ///< the last ones, for logprobs
  std::vector<std::string> call_ids;
  std::int64_t offset = 0;
  bool role_sent = false;
  bool called = false;

  static Result<StreamState> read(Value given) {
    StreamState state;
    Result<std::vector<TokenId>> ids = ids_in(given["output_token_ids"], "stream_state.output_token_ids");
    if (!ids) return ids.error();
    Result<std::vector<TokenId>> before =
        ids_in(given["logprob_context_token_ids"], "stream_state.logprob_context_token_ids");
    if (!before) return before.error();
    state.ids = std::move(*ids);
    state.before = std::move(*before);
    const std::span<const Value> sizes = given["output_chunk_lens"].items();
    state.sizes.assign(sizes.begin(), sizes.end());
    for (const Value& id : given["last_tool_call_ids"].items()) state.call_ids.emplace_back(id.text());
    state.offset = number_or(given["logprob_text_offset"], 0);
    state.role_sent = flag_of(given["role_sent"], false);
    state.called = flag_of(given["tools_streamed"], false);
    return state;
  }
  void note_sampled(std::span<const TokenId> sampled) {
    constexpr std::size_t kContext = 4;
    before.insert(before.end(), sampled.begin(), sampled.end());
    if (before.size() > kContext) before.erase(before.begin(), before.end() - kContext);
  }
  /// `last`: so many of `ids` came in the last chunk.
  std::string to_json(std::size_t last) const {
    JsonWriter lens('['), calls('[');
    for (const Value& size : sizes) lens.item(json_text(size));
    if (last > 0) lens.item(std::to_string(last));
    for (const std::string& id : call_ids) calls.item_text(id);
    JsonWriter out('{');
    out.raw("prev_tokens", "[]").number("prefix_offset", 0).number("read_offset", 0).flag("role_sent", role_sent);
    out.raw("logprob_context_token_ids", ids_json(before)).number("logprob_text_offset", offset);
    out.raw("output_token_ids", ids_json(ids)).raw("output_chunk_lens", lens.take());
    return out.flag("tools_streamed", called).raw("last_tool_call_ids", calls.take()).take();
  }
};

std::string chunk_json(std::string_view object, Value body, const std::string& name, const std::string& choices) {
  const Value chunk = body["generate_chunk"];
  JsonWriter out('{');
  out.text("id", chunk["request_id"].text()).text("object", object).number("created", std::time(nullptr));
  out.text("model", name).raw("choices", choices).raw("usage", usage_of_chunk(body));
  return out.raw("metrics", json_or_null(chunk["metrics"])).take();
}

std::string stream_json(const std::string& chunk, const std::string& state) {
  return JsonWriter('{').raw("chunk", chunk).raw("stream_state", state).take();
}

/// The choice of a chunk, of which there is one or none. Fails if there are several.
Result<std::optional<Value>> choice_of(Value body) {
  const std::span<const Value> choices = body["generate_chunk"]["choices"].items();
  if (choices.size() > 1) return wrong_member("generate_chunk.choices", "at most one choice for each stream_state");
  return choices.empty() ? std::optional<Value>() : std::optional<Value>(choices[0]);
}

/// The ids so far are read again, in silence; then those of this chunk.
std::string read_chunk(const ChatReading& reading, const Choice& choice, StreamState& state) {
  ChunkDelta delta(state.call_ids);
  const auto take = [&delta](const ReplyEvent& event) { delta.add(event); };
  ReplyParser parser(reading.start.format, reading.start.options);
  TokenPieces pieces(reading.model);
  for (const TokenId id : state.ids) pieces.add({.id = id}, parser, take);
  delta.live = true;
  for (std::size_t at = 0; at < choice.read; ++at) pieces.add({.id = choice.ids[at]}, parser, take);
  if (is_set(choice.value["finish_reason"])) {
    pieces.finish(parser, take);
    parser.finish(take);
  }
  state.called = state.called || delta.count > 0;
  const std::string json = delta.to_json(!state.role_sent, reading.hides);
  state.role_sent = true;
  return json;
}

Result<std::string> derender_chat_chunk(const ServedModel& model, Value body, const std::string& name) {
  const Result<ChatReading> reading = reading_for(model, body);
  if (!reading) return reading.error();
  if (!stops_of({.value = {}, .ids = {}, .stopped = true}, reading->asked).empty())
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
    is_set(finished) ? out.text("finish_reason", finish_reason_of(*choice, reading->asked, state->called))
                     : out.null("finish_reason");
    end_choice(out, *choice, reading->asked, reading->hides);
    choices.item(out.take());
    state->ids.insert(state->ids.end(), choice->ids.begin(), choice->ids.end());
    state->note_sampled(choice->ids);
    added = choice->ids.size();
  }
  return stream_json(chunk_json("chat.completion.chunk", body, name, choices.take()), state->to_json(added));
}

bool skips_special(Value asked) {
  const Value given = asked["skip_special_tokens"];
  return !given.is(Kind::boolean) || given.integer != 0;
}

/// The text of a whole reply up to a stop text, which `include_stop_str_in_output` keeps.
std::string text_of_whole(const ServedModel& model, Choice& choice, Value asked) {
  TokenTexts texts(*model.tokenizer, model, skips_special(asked));
  std::string text;
  for (std::size_t at = 0; at < choice.read; ++at) text += texts.add(choice.ids[at]);
  text += texts.finish();
  std::size_t cut = text.size(), first = text.npos;
  for (const std::string& stop : stops_of(choice, asked)) {
    const std::size_t at = text.find(stop);
    if (at >= first) continue;
    first = at;
    cut = flag_of(asked["include_stop_str_in_output"], false) ? at + stop.size() : at;
    choice.stop_reason.clear();
    append_json_string(choice.stop_reason, stop);
  }
  return text.substr(0, cut);
}

std::string completion_choice(const ServedModel& model, const Choice& choice, Value asked, std::int64_t index,
                              std::string_view text, const std::string& logprobs, Value prompt_ids) {
  JsonWriter out('{');
  out.number("index", index).text("text", text).raw("logprobs", logprobs);
  out.raw("finish_reason", json_or_null(choice.value["finish_reason"]));
  end_choice(out, choice, asked, false);
  static_cast<void>(model);
  return out.raw("prompt_token_ids", flag_of(asked["return_token_ids"], false) ? json_or_null(prompt_ids) : "null")
      .take();
}

Result<std::string> derender_whole_completion(const ServedModel& model, Value body, const std::string& name) {
  const Value asked = body["completion_request"], counts = body["prompt_tokens"];
  const std::span<const Value> answers = body["generate_responses"].items();
  if (answers.empty()) return wrong_member("generate_responses", "a list that is not empty");
  if (is_set(counts) && counts.items().size() != answers.size())
    return wrong_member("prompt_tokens", "a list with a count for each of generate_responses");
  JsonWriter choices('[');
  std::int64_t prompt = 0, sampled = 0, index = 0;
  for (const Value& count : counts.items()) prompt += number_or(count, 0);
  for (const Value& answer : answers) {
    for (const Value& value : answer["choices"].items()) {
      Result<Choice> choice = read_choice(model, value, asked, true);
      if (!choice) return choice.error();
      if (choice->ids.empty())
        return wrong_member("generate_responses[].choices[].token_ids", "a list that is not empty");
      std::size_t offset = 0;
      const LogprobTexts from{
          .model = model, .logprobs = value["logprobs"], .alternatives = alternatives_of(asked, false)};
      const std::string logprobs = is_set(value["logprobs"]) ? completion_logprobs(from, offset) : "null";
      const std::string text = text_of_whole(model, *choice, asked);
      choices.item(completion_choice(model, *choice, asked, index++, text, logprobs, answer["prompt_token_ids"]));
      sampled += static_cast<std::int64_t>(choice->ids.size());
    }
  }
  JsonWriter out('{');
  out.text("id", answers[0]["request_id"].text()).text("object", "text_completion");
  out.number("created", std::time(nullptr)).text("model", name).raw("choices", choices.take());
  out.raw("usage", usage_json(prompt, sampled));
  const bool one = answers.size() == 1;
  out.raw("kv_transfer_params", one ? json_or_null(answers[0]["kv_transfer_params"]) : "null");
  return out.raw("metrics", one ? json_or_null(answers[0]["metrics"]) : "null").take();
}

Result<std::string> derender_completion_chunk(const ServedModel& model, Value body, const std::string& name) {
  const Value asked = body["completion_request"];
  if (!stops_of({.value = {}, .ids = {}, .stopped = true}, asked).empty())
    return Error(ErrorCode::conversation, std::string(kNoStops)).input("completion_request.stop");
  Result<StreamState> state = StreamState::read(body["stream_state"]);
  if (!state) return state.error();
  const Result<std::optional<Value>> value = choice_of(body);
  if (!value) return value.error();
  JsonWriter choices('[');
  TokenTexts texts(*model.tokenizer, model, skips_special(asked));
  for (const TokenId id : state->ids) texts.add(id);
  if (*value) {
    const Result<Choice> choice = read_choice(model, **value, asked, true);
    if (!choice) return choice.error();
    std::string text;
    for (std::size_t at = 0; at < choice->read; ++at) text += texts.add(choice->ids[at]);
    if (is_set((**value)["finish_reason"])) text += texts.finish();
    std::size_t offset = static_cast<std::size_t>(state->offset);
    const LogprobTexts from{.model = model,
                            .logprobs = (**value)["logprobs"],
                            .before = state->before,
                            .alternatives = alternatives_of(asked, false)};
    const std::string logprobs = is_set(from.logprobs) ? completion_logprobs(from, offset) : "null";
    choices.item(completion_choice(model, *choice, asked, number_or((**value)["index"], 0), text, logprobs,
                                   body["generate_chunk"]["prompt_token_ids"]));
    state->offset = static_cast<std::int64_t>(offset);
    state->note_sampled(choice->ids);
  }
  state->ids = texts.waiting();
  state->sizes.clear();
  state->role_sent = true;
  return stream_json(chunk_json("text_completion", body, name, choices.take()), state->to_json(state->ids.size()));
}

using Derender = Result<std::string> (*)(const ServedModel&, Value, const std::string&);

Result<std::string> derendered(Call& call, Derender whole, Derender chunk) {
  const Result<Document> document = parsed_body(call.exchange.request().body);
  if (!document) return document.error();
  const Value body = document->root();
  const Result<std::shared_ptr<const ServedModel>> model = model_of(*call.offer, body);
  if (!model) return model.error();
  const std::string name(body["model"].text());
  return (flag_of(body["stream"], false) ? chunk : whole)(**model, body, name.empty() ? (*model)->name : name);
}

}  // namespace

Task<> derender_chat_completions(Call& call) {
  const Result<std::string> body = derendered(call, derender_whole_chat, derender_chat_chunk);
  co_await answer_as_vllm(call.exchange, body);
}
Task<> derender_completions(Call& call) {
  const Result<std::string> body = derendered(call, derender_whole_completion, derender_completion_chunk);
  co_await answer_as_vllm(call.exchange, body);
}

}  // namespace parlance::serve
