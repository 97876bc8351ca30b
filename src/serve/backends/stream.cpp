// Reads an engine's stream.
#include "serve/backends/stream.h"

#include <algorithm>

#include "base/ascii.h"

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
      if (said.is_string()) return std::string(said.text().substr(0, kMostOfAnError));
    }
  }
  return body.substr(0, kMostOfAnError);
}

}  // namespace

EngineFailure no_engine_answer(const std::string& what) {
  return {EngineFailure::Kind::garbage, "the engine's answer has " + what};
}

std::optional<double> number_of(Value value) {
  if (value.is_small_int()) return static_cast<double>(value.integer);
  return value.is(Kind::real) ? std::optional(value.real) : std::nullopt;
}

std::optional<std::int64_t> whole_of(Value value) {
  return value.is_small_int() ? std::optional(value.integer) : std::nullopt;
}

std::vector<HttpHeader> bearer(const std::string& api_key) {
  if (api_key.empty()) return {};
  return {{"Authorization", "Bearer " + api_key}};
}

EngineStream::EngineStream(std::unique_ptr<HttpReply> reply, Framing framing)
    : reply_(std::move(reply)), framing_(framing) {}

Task<> EngineStream::accept() {
  if (reply_->status() == 200) co_return;
  const std::string body = co_await reply_->read_all();
  throw EngineFailure(EngineFailure::Kind::status,
                      "the engine answered " + std::to_string(reply_->status()) + ": " + message_of(body),
                      reply_->status());
}

void EngineStream::take(std::string_view data) {
  if (ascii::is_blank(data) || data == "[DONE]") return;
  batch_ += batch_.empty() ? '[' : ',';
  batch_ += data;
  ++taken_;
}

/// The events of a piece are one list, since a document for each would take much memory of a stream that waits.
void EngineStream::parse_batch() {
  batch_ += ']';
  const Result<void> parsed = document_.parse(batch_);
  const std::span<const Value> all = parsed ? document_.root().items() : std::span<const Value>();
  if (all.size() != taken_)
    throw no_engine_answer("an event that is not JSON: " +
                           batch_.substr(1, std::min(batch_.size() - 2, kMostOfAnError)));
  for (const Value event : all) {
    const Value error = event["error"];
    if (!error.is_undefined() && !error.is_none())
      throw EngineFailure(EngineFailure::Kind::status, "the engine failed: " + message_of(json_text(event)));
  }
  events_.assign(all.begin(), all.end());
}

Task<bool> EngineStream::next() {
  events_.clear();
  batch_.clear();
  taken_ = 0;
  while (taken_ == 0) {
    const std::string_view piece = co_await reply_->read();
    if (piece.empty()) co_return false;
    reader_.feed(piece, framing_ == Framing::events, [this](std::string_view data) { take(data); });
    if (reader_.held() > kLongestEvent) throw no_engine_answer("an event that does not end");
  }
  parse_batch();
  co_return true;
}

Task<> EngineStream::drain() {
  constexpr std::size_t kMost = std::size_t{64} << 10;
  for (std::size_t read = 0; read < kMost;) {
    const std::string_view piece = co_await reply_->read();
    if (piece.empty()) co_return;
    read += piece.size();
  }
}

}  // namespace parlance::serve
