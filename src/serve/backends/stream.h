// EngineStream: the JSON events of an engine's stream, whatever pieces they come in.
#pragma once
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parlance/json.h"
#include "serve/backends/backend.h"
#include "serve/backends/ids_json.h"
#include "serve/http/client.h"
#include "serve/http/event_reader.h"

namespace parlance::serve {

/// What an engine's error may be about.
struct AskedOfEngine {
  bool has_grammar = false;
  std::size_t prompt_tokens = 0;
};
inline AskedOfEngine asked_of(const Generation& generation) {
  return {generation.grammar != nullptr || !generation.schema.empty(), generation.ids.size()};
}

EngineFailure no_engine_answer(const std::string& what);
/// The failure for an answer that is an error.
EngineFailure failure_of_status(unsigned status, const std::string& path, const std::string& body);
/// The failure for an error that an engine told in these words: they may be about the request's grammar, if it had one,
/// or about a prompt that is larger than the context.
EngineFailure engine_said(const std::string& before, const std::string& message, unsigned status,
                          const AskedOfEngine& asked);
std::optional<double> number_of(Value value);
/// A count of something: from 0 up to where two of them can be added. Unset: it is none.
std::optional<std::int64_t> count_of(Value value);
/// The id of a token; -1: it is none.
TokenId id_of(Value value);
/// The header for a key; none without one.
std::vector<HttpHeader> bearer(const std::string& api_key);

/// An item of a list; undefined if it has no such.
Value item_of(Value list, std::size_t at);
/// The ids of a list of sampled tokens. Throws EngineFailure if it has anything else.
std::vector<TokenId> ids_of(Value list);
/// A JSON answer of an engine; nothing if it has no such route. Throws EngineFailure.
Task<std::optional<Document>> ask_json(HttpClient& client, std::string_view method, std::string_view path,
                                       std::string_view body, const std::vector<HttpHeader>& headers);
/// GET /v1/models: the model named `wanted`, or the first. Throws EngineFailure.
Task<EngineInfo> ask_models(HttpClient& client, const std::string& wanted, const std::vector<HttpHeader>& headers);
/// POST /tokenize, whose answer has `tokens`; nothing if there is no such route. Throws EngineFailure.
Task<std::optional<std::vector<TokenId>>> ask_tokenize(HttpClient& client, std::string_view body,
                                                       const std::vector<HttpHeader>& headers);
/// GET /health. Throws EngineFailure unless it is 200.
Task<> ask_health(HttpClient& client, std::string_view path, const std::vector<HttpHeader>& headers);

class EngineStream {
 public:
  /// Events that are lines of data (server-sent events), or lines as they are (NDJSON).
  enum class Framing : std::uint8_t { events, lines };
  explicit EngineStream(std::unique_ptr<HttpReply> reply, AskedOfEngine asked, Framing framing = Framing::events);

  /// Throws EngineFailure if the answer is an error, with what the engine said.
  Task<> accept();
  /// Takes an event, which is valid during the call. May throw EngineFailure.
  using Take = std::function<void(Value)>;
  /// Waits for the next events, and gives those that have come together, one after the other; false at the end of the
  /// stream. What is wrong with an event is thrown by the call behind those before it.
  Task<bool> next(const Take& take);
  /// The stream has ended too early: its connection is not used again.
  void distrust() { reply_->distrust(); }

 private:
  void read_event(std::string_view data, const Take& take);

  std::unique_ptr<HttpReply> reply_;
  const AskedOfEngine asked_;
  const Framing framing_;
  EventReader reader_;
  Document document_;  ///< one for all events: each has memory of its own, and many streams wait for their readers
  bool got_event_ = false;
  std::exception_ptr failed_;  ///< what is wrong behind these events
};

}  // namespace parlance::serve
