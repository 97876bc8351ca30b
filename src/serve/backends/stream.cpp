// Reads an engine's stream.
#include "serve/backends/stream.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/lowered.h"
#include "base/utf8.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kMostOfAnError = 2000;
constexpr std::size_t kLongestEvent = std::size_t{64} << 20;

/// What an engine says in an error: the member that most of them have, or the whole.
std::string message_of(const std::string& body) {
  Document parsed;
  if (parsed.parse(body)) {
    const Value error = parsed.root()["error"];
    for (const Value said : {error["message"], error, parsed.root()["message"], parsed.root()["detail"]}) {
      if (said.is_string()) return std::string(utf8::whole_prefix(said.text(), kMostOfAnError));
    }
  }
  return std::string(utf8::whole_prefix(body, kMostOfAnError));
}

/// Engines have no codes for these things, only words.
bool names_one_of(std::string_view message, std::initializer_list<std::string_view> words) {
  const std::string lower = ascii::lowered(message);
  return std::any_of(words.begin(), words.end(), [&lower](auto word) { return lower.find(word) != lower.npos; });
}

bool is_about_grammar(std::string_view message) {
  return names_one_of(message, {"grammar", "structural", "structured", "json schema", "json_schema"});
}

/// What is behind the name of a context in a message, as " is 4096 tokens"; "": it names none.
std::string behind_context(std::string_view message) {
  const std::string lower = ascii::lowered(message);
  std::size_t end = 0;
  for (const std::string_view word : {"context size", "context length", "max_model_len", "maximum allowed length"}) {
    if (const std::size_t at = lower.find(word); at != lower.npos) end = std::max(end, at + word.size());
  }
  return end == 0 ? std::string() : lower.substr(end) + ".";
}

std::size_t first_number(std::string_view text) {
  std::size_t number = 0;
  const std::size_t digit = std::min(text.find_first_of("0123456789"), text.size());
  std::from_chars(text.data() + digit, text.data() + text.size(), number);
  return number;
}

/// Prompt and reply together are too long for the context, but the prompt alone is not.
bool is_about_reply(std::string_view message, std::size_t prompt_tokens) {
  const bool names_reply = names_one_of(message, {"max_tokens", "max_new_tokens", "max_completion_tokens",
                                                  "max_output_tokens", "completion", "output tokens"});
  const std::size_t context = first_number(behind_context(message));
  return names_reply && (context == 0 || prompt_tokens < context);
}

/// The status that an event's error has as its code: an engine whose answer has begun can refuse a request in no other
/// way, and some begin each stream before they look at the request. 0: it has none.
unsigned status_in(Value error) {
  const std::int64_t code = count_of(error["code"]).value_or(0);
  return code >= 400 && code < 600 ? static_cast<unsigned>(code) : 0;
}

}  // namespace

EngineFailure failure_of_status(unsigned status, const std::string& path, const std::string& body) {
  return {EngineFailure::Kind::status,
          "the engine answered " + std::to_string(status) + " to " + path + ": " + message_of(body), status};
}

EngineFailure engine_said(const std::string& before, const std::string& message, unsigned status,
                          const AskedOfEngine& asked) {
  if (status == 400 && !behind_context(message).empty() && !is_about_reply(message, asked.prompt_tokens))
    return {EngineFailure::Kind::status, "prompt is too long: " + before + message, status, "context_length_exceeded"};
  if (asked.has_grammar && is_about_grammar(message))
    return {EngineFailure::Kind::grammar, "the engine refuses the grammar of this request: " + message};
  return {EngineFailure::Kind::status, before + message, status};
}

EngineFailure no_engine_answer(const std::string& what) {
  return {EngineFailure::Kind::garbage, "the engine's answer has " + what};
}

std::optional<double> number_of(Value value) {
  if (value.is_small_int()) return static_cast<double>(value.integer);
  return value.is(Kind::real) ? std::optional(value.real) : std::nullopt;
}

std::optional<std::int64_t> count_of(Value value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const bool is_count = value.is_small_int() && value.integer >= 0 && value.integer <= kMost;
  return is_count ? std::optional(value.integer) : std::nullopt;
}

TokenId id_of(Value value) {
  const std::int64_t id = count_of(value).value_or(-1);
  return id <= INT32_MAX ? static_cast<TokenId>(id) : -1;
}

std::vector<HttpHeader> bearer(const std::string& api_key) {
  if (api_key.empty()) return {};
  return {{"Authorization", "Bearer " + api_key}};
}

Value item_of(Value list, std::size_t at) {
  const std::span<const Value> items = list.items();
  return at < items.size() ? items[at] : Value();
}

std::vector<TokenId> ids_of(Value list) {
  std::vector<TokenId> ids;
  for (const Value& id : list.items()) {
    if (id_of(id) < 0) throw no_engine_answer("tokens that are no ids");
    ids.push_back(id_of(id));
  }
  return ids;
}

Task<std::optional<Document>> ask_json(HttpClient& client, std::string_view method, std::string_view path,
                                       std::string_view body, const std::vector<HttpHeader>& headers) {
  const std::unique_ptr<HttpReply> reply = co_await client.send(method, path, body, headers);
  const std::string answer = co_await reply->read_all();
  const unsigned status = reply->status();
  if (status == 404 || status == 405 || status == 501) co_return std::nullopt;
  if (status != 200) throw failure_of_status(status, std::string(path), answer);
  Document document;
  if (!document.parse(answer)) throw no_engine_answer("no JSON at " + std::string(path));
  co_return document;
}

Task<EngineInfo> ask_models(HttpClient& client, const std::string& wanted, const std::vector<HttpHeader>& headers) {
  EngineInfo info{.model = wanted};
  const std::optional<Document> document = co_await ask_json(client, "GET", "/v1/models", {}, headers);
  if (!document) co_return info;
  std::string names;
  for (const Value& model : document->root()["data"].items()) {
    const std::string_view name = model["id"].text();
    names.append(names.empty() ? "" : ", ").append(name);
    if (!info.model.empty() && name != info.model) continue;
    info.model = name;
    info.context = count_of(model["max_model_len"]);
    co_return info;
  }
  if (!wanted.empty() && !names.empty()) {
    throw EngineFailure(EngineFailure::Kind::other,
                        "the engine at " + client.address().url() + " has no model '" + wanted + "', but " + names);
  }
  co_return info;
}

Task<std::optional<std::vector<TokenId>>> ask_tokenize(HttpClient& client, std::string_view body,
                                                       const std::vector<HttpHeader>& headers) {
  const std::optional<Document> document = co_await ask_json(client, "POST", "/tokenize", body, headers);
  if (!document || !document->root()["tokens"].is_sequence()) co_return std::nullopt;
  co_return ids_of(document->root()["tokens"]);
}

Task<> ask_health(HttpClient& client, std::string_view path, const std::vector<HttpHeader>& headers) {
  const std::unique_ptr<HttpReply> reply = co_await client.send("GET", path, {}, headers);
  const std::string body = co_await reply->read_all();
  if (reply->status() == 200) co_return;
  const std::string why = body.empty() ? "it answered " + std::to_string(reply->status()) : message_of(body);
  throw EngineFailure(EngineFailure::Kind::status, "the engine at " + client.address().url() + " is not ready: " + why,
                      reply->status());
}

EngineStream::EngineStream(std::unique_ptr<HttpReply> reply, AskedOfEngine asked, Framing framing)
    : reply_(std::move(reply)), asked_(asked), framing_(framing) {}

Task<> EngineStream::accept() {
  if (reply_->status() == 200) co_return;
  const std::string body = co_await reply_->read_all();
  const std::string message = message_of(body);
  throw engine_said("the engine answered " + std::to_string(reply_->status()) + ": ", message, reply_->status(),
                    asked_);
}

void EngineStream::read_event(std::string_view data, const Take& take) {
  if (ascii::is_blank(data) || data == "[DONE]") return;
  if (const Result<void> parsed = document_.parse(data); !parsed)
    throw no_engine_answer("an event that is not JSON").quoting(utf8::whole_prefix(data, kMostOfAnError));
  const Value event = document_.root();
  const Value error = event["error"];
  if (!error.is_undefined() && !error.is_none()) {
    throw engine_said("the engine failed: ", message_of(std::string(data)), status_in(error), asked_);
  }
  take(event);
  got_event_ = true;
}

Task<bool> EngineStream::next(const Take& take) {
  got_event_ = false;
  while (!got_event_) {
    if (failed_) std::rethrow_exception(failed_);
    const std::string_view piece = co_await reply_->read();
    if (piece.empty()) co_return false;
    try {
      reader_.feed(piece, framing_ == Framing::events, [&](std::string_view data) { read_event(data, take); });
    } catch (const EngineFailure&) {
      failed_ = std::current_exception();  // the events before it count
    }
    if (reader_.held() > kLongestEvent) throw no_engine_answer("an event that does not end");
  }
  co_return true;
}

}  // namespace parlance::serve
