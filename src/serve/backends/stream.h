// EngineStream: the JSON events of an engine's stream, whatever pieces they come in.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parlance/json.h"
#include "serve/http/client.h"
#include "serve/http/event_reader.h"

namespace parlance::serve {

EngineFailure no_engine_answer(const std::string& what);
std::optional<double> number_of(Value value);
std::optional<std::int64_t> whole_of(Value value);
/// The header for a key; none without one.
std::vector<HttpHeader> bearer(const std::string& api_key);

class EngineStream {
 public:
  /// Events that are lines of data (server-sent events), or lines as they are (NDJSON).
  enum class Framing : std::uint8_t { events, lines };
  explicit EngineStream(std::unique_ptr<HttpReply> reply, Framing framing = Framing::events);

  /// Throws EngineFailure if the answer is an error, with what the engine said.
  Task<> accept();
  /// Waits for the next events, which replace the last ones; false at the end of the stream.
  Task<bool> next();
  /// Valid until next().
  const std::vector<Value>& events() const { return events_; }
  /// Reads what follows the last event, so that the connection can be used again.
  Task<> drain();

 private:
  void take(std::string_view data);
  void parse_batch();

  std::unique_ptr<HttpReply> reply_;
  Framing framing_;
  EventReader reader_;
  std::string batch_;  ///< the events that came together, as a list
  std::size_t taken_ = 0;
  Document document_;
  std::vector<Value> events_;
};

}  // namespace parlance::serve
