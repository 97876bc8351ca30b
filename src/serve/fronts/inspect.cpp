// The inspector's page, and what it asks for. Begin reading at inspect_page, inspect_session and inspect_live.
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "serve/fronts/routes.h"
#include "serve/http/in_pool.h"
#include "serve/inspect/page_files.h"
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
  const ReplyApiError error{.status = 404, .message = "this server shows no turns", .code = "not_found"};
  co_await refuse(call.exchange, ReplyApi::openai, error);
}

std::string turn_at(const Inspector& inspector, const Viewer& viewer, const std::string& id, std::string_view digits) {
  std::size_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed != std::errc() || end != digits.data() + digits.size()) return {};
  const std::shared_ptr<const InspectedTurn> turn = inspector.turn(viewer, id, number);
  return turn ? turn_json(*turn, number) : std::string();
}

/// What the page shows is hostile: it runs and loads its own files alone, and nothing can make markup of a text.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'";

void add_page_headers(Exchange& exchange, const PageFile& file) {
  exchange.add_header("Content-Security-Policy", kPolicy);
  exchange.add_header("X-Content-Type-Options", "nosniff");
  exchange.add_header("Referrer-Policy", "no-referrer");
  exchange.add_header("Cache-Control", "no-cache");
  exchange.add_header("ETag", file.tag);
}

/// A request sees the turns of its API key; without keys, everybody's.
Viewer viewer_of(const Call& call) {
  return call.offer->api_keys.empty() ? Viewer() : owner_of(call.exchange.request());
}

/// May the stream go on? A reload may have taken its key, and a client that still has one connects again.
bool goes_on(const Call& call) {
  const HttpServer* const server = call.gateway.server();
  return (server == nullptr || !server->draining()) && call.gateway.offer() == call.offer;
}

/// Gets the news while it lives.
class Watching {
 public:
  Watching(Inspector& inspector, const Viewer& viewer, asio::any_io_executor executor)
      : inspector_(inspector), watcher_(inspector.watch(viewer, std::move(executor))) {}
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

Task<> inspect_page(Call& call) {
  if (call.gateway.inspector() == nullptr) {
    co_await answer_off(call);
    co_return;
  }
  const HttpRequest& request = call.exchange.request();
  const PageFile* const file = page_file(request.path);
  if (file == nullptr) {
    const std::string none;
    co_await answer_json(call, none, "part of the page");
    co_return;
  }
  add_page_headers(call.exchange, *file);
  const bool has_it = request.header("if-none-match") == file->tag;
  co_await call.exchange.answer(has_it ? 304 : 200, file->type, has_it ? std::string_view() : file->text);
}

Task<> inspect_sessions(Call& call) {
  const Inspector* const inspector = call.gateway.inspector();
  if (inspector == nullptr) {
    co_await answer_off(call);
    co_return;
  }
  const std::string json = inspector->sessions_json(viewer_of(call));
  co_await call.exchange.answer(200, "application/json", json);
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
  const Viewer viewer = viewer_of(call);
  if (turns == rest.npos) {
    const std::string json = inspector->session_json(viewer, id);
    co_await answer_json(call, json, "session");
    co_return;
  }
  // It renders and encodes the prompt again.
  const auto make = [&] { return turn_at(*inspector, viewer, id, rest.substr(turns + kTurns.size())); };
  const std::string json = co_await in_pool(call.gateway.workers(), make);
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
  Watching watching(*inspector, viewer_of(call), executor);
  call.exchange.begin(200, "text/event-stream; charset=utf-8");
  if (call.exchange.is_head()) {
    co_await call.exchange.end();
    co_return;
  }
  co_await call.exchange.write(": live\n\n");
  int quiet = 0;
  while (goes_on(call)) {
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
