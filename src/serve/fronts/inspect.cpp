// What the inspector's page asks for. Begin reading at inspect_session and inspect_live.
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "serve/fronts/routes.h"
#include "serve/inspect/turn_json.h"

namespace parlance::serve {

namespace {

constexpr std::string_view kSessions = "/inspect/api/sessions/";
constexpr std::string_view kTurns = "/turns/";

Task<> answer_json(Call& call, const std::string& json, std::string_view what) {
  if (!json.empty()) {
    co_await call.exchange.answer(200, "application/json", json);
    co_return;
  }
  const ReplyApiError error{.status = 404, .message = "there is no such " + std::string(what), .code = "not_found"};
  co_await refuse(call.exchange, ReplyApi::openai, error);
}

Task<> answer_off(Call& call) {
  const ReplyApiError error{.status = 404, .message = "this server shows no turns (--inspect)", .code = "not_found"};
  co_await refuse(call.exchange, ReplyApi::openai, error);
}

std::string turn_at(const Inspector& inspector, const std::string& id, std::string_view digits) {
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed != std::errc() || end != digits.data() + digits.size()) return {};
  const std::shared_ptr<const InspectedTurn> turn = inspector.turn(id, number);
  return turn ? turn_json(*turn, number) : std::string();
}

/// Gets the news while it lives.
class Watching {
 public:
  Watching(Inspector& inspector, asio::any_io_executor executor)
      : inspector_(inspector), watcher_(inspector.watch(std::move(executor))) {}
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  ~Watching() { inspector_.forget(watcher_); }

  Watcher& watcher() { return *watcher_; }
  /// What there is to send; "": nothing.
  std::string take() {
    std::string out;
    for (const auto& one : watcher_->news) out += *one;
    watcher_->news.clear();
    if (watcher_->lost > 0) out += "event: lost\ndata: {\"events\": " + std::to_string(watcher_->lost) + "}\n\n";
    watcher_->lost = 0;
    return out;
  }

 private:
  Inspector& inspector_;
  std::shared_ptr<Watcher> watcher_;
};

}  // namespace

Task<> inspect_sessions(Call& call) {
  const Inspector* const inspector = call.gateway.inspector();
  if (inspector == nullptr) {
    co_await answer_off(call);
    co_return;
  }
  co_await call.exchange.answer(200, "application/json", inspector->sessions_json());
}

Task<> inspect_session(Call& call) {
  const Inspector* const inspector = call.gateway.inspector();
  if (inspector == nullptr) {
    co_await answer_off(call);
    co_return;
  }
  const std::string_view rest = std::string_view(call.exchange.request().path).substr(kSessions.size());
  const std::size_t turns = rest.find(kTurns);
  const std::string id(rest.substr(0, turns));
  if (turns == rest.npos) {
    const std::string json = inspector->session_json(id);
    co_await answer_json(call, json, "session");
    co_return;
  }
  const std::string json = turn_at(*inspector, id, rest.substr(turns + kTurns.size()));
  co_await answer_json(call, json, "turn");
}

Task<> inspect_live(Call& call) {
  Inspector* const inspector = call.gateway.inspector();
  if (inspector == nullptr) {
    co_await answer_off(call);
    co_return;
  }
  constexpr int kQuiet = 15;  // seconds until a line says that the connection lives
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  Watching watching(*inspector, executor);
  co_await call.exchange.begin(200, "text/event-stream; charset=utf-8");
  co_await call.exchange.write(": live\n\n");
  int quiet = 0;
  while (call.gateway.server() == nullptr || !call.gateway.server()->draining()) {
    std::string out = watching.take();
    if (out.empty() && quiet >= kQuiet) out = ": live\n\n";
    if (!out.empty()) {
      quiet = 0;
      co_await call.exchange.write(out);
      continue;
    }
    boost::system::error_code woken;
    watching.watcher().timer.expires_after(std::chrono::seconds(1));
    co_await watching.watcher().timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    ++quiet;
  }
  co_await call.exchange.end();
}

}  // namespace parlance::serve
