// Gateway: answers HTTP requests. It knows models and sessions; each API is a file in fronts/ and rows in routes.cpp.
#pragma once
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "parlance/reply_api.h"
#include "serve/capture/capture.h"
#include "serve/http/server.h"
#include "serve/inspect/inspector.h"
#include "serve/log.h"
#include "serve/metrics.h"
#include "serve/models/model.h"
#include "serve/sessions/store.h"

namespace parlance::serve {

struct GatewayOptions {
  std::vector<std::string> api_keys{};  ///< none: every client may ask
  std::size_t most_sessions = 4096;
  std::size_t most_session_bytes = std::size_t{1} << 30;
  bool inspect = false;  ///< keep the last turns for a page that shows them
};

/// Threads: any.
class Gateway {
 public:
  Gateway(GatewayOptions options, std::vector<std::unique_ptr<ServedModel>> models, Log log);

  /// An HttpHandler.
  Task<> handle(Exchange& exchange, unsigned refused);

  const std::vector<std::unique_ptr<ServedModel>>& models() const { return models_; }
  /// The model of this name; with one model alone, that one by whatever name. Null: there is none.
  const ServedModel* model_named(std::string_view name) const;
  /// Without one, requests can be rendered and replies read, but nobody answers a chat.
  bool has_engine() const;
  SessionStore& sessions() { return sessions_; }
  /// Threads for work that takes long (fronts/apart.h).
  asio::thread_pool& workers() { return workers_; }
  Metrics& metrics() { return metrics_; }
  /// Records of turns are written to it. Null: there is none.
  void capture_to(std::unique_ptr<Capture> capture) { capture_ = std::move(capture); }
  Capture* capture() { return capture_.get(); }
  /// Null: no page may show turns.
  Inspector* inspector() { return inspector_.get(); }
  const Log& log() const { return log_; }
  /// Counts and logs what an engine did to a session.
  void count(const EngineFailure& failure, std::string_view session);
  /// For gauges of the server's connections.
  void watch(const HttpServer& server) { server_ = &server; }
  const HttpServer* server() const { return server_; }

 private:
  bool may_ask(const HttpRequest& request) const;

  GatewayOptions options_;
  std::vector<std::unique_ptr<ServedModel>> models_;
  SessionStore sessions_;
  Metrics metrics_;
  Log log_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<Inspector> inspector_;
  const HttpServer* server_ = nullptr;
  asio::thread_pool workers_{std::max(1U, std::thread::hardware_concurrency())};
};

/// What a client is told apart by: its API key.
std::string owner_of(const HttpRequest& request);

}  // namespace parlance::serve
