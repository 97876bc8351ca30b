// Gateway: answers HTTP requests. It knows models and sessions; each API is a file in fronts/ and rows in routes.cpp.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "parlance/reply_api.h"
#include "serve/capture/capture.h"
#include "serve/http/hosts.h"
#include "serve/http/server.h"
#include "serve/http/worker_pool.h"
#include "serve/inspect/inspector.h"
#include "serve/log.h"
#include "serve/metrics.h"
#include "serve/offer.h"
#include "serve/sessions/shared.h"
#include "serve/sessions/store.h"
#include "serve/stored/kept.h"
#include "serve/stored/stored_conversations.h"
#include "serve/stored/stored_responses.h"

namespace parlance::serve {

struct GatewayOptions {
  std::size_t most_sessions = 4096;
  std::size_t most_session_bytes = std::size_t{1} << 30;
  std::size_t most_body = HttpLimits().body;  ///< of a request, also with what it names
  bool inspect = false;                       ///< keep the last turns for a page that shows them
  std::chrono::milliseconds keep_alive{};     ///< of streams that have nothing to say (http/event_stream.h); 0: none
  std::optional<KnownHosts> hosts{};          ///< who asks by other names is refused; unset: nobody is
};

/// Threads: any.
class Gateway {
 public:
  Gateway(const GatewayOptions& options, Offer offer, Log log);

  /// An HttpHandler.
  Task<> handle(Exchange& exchange, unsigned refused);
  /// An HttpGate: false where the header alone says how the request is answered, as that of a client without a key.
  bool reads_body_behind(HttpRequest header) const;

  /// For a request that begins.
  std::shared_ptr<const Offer> offer() const;
  /// The sessions of models that are no longer offered go.
  void replace(Offer offer);
  SessionStore& sessions() { return sessions_; }
  /// What clients may ask for by its id (kept.h).
  Kept<StoredResponse> responses(bool may_wait) { return {responses_, shared_.get(), may_wait}; }
  Kept<StoredConversation> conversations(bool may_wait) { return {conversations_, shared_.get(), may_wait}; }
  /// Threads for work that takes long (fronts/apart.h).
  WorkerPool& workers() { return workers_; }
  Metrics& metrics() { return metrics_; }
  /// Records of turns are written to it. Null: there is none.
  void capture_to(std::unique_ptr<Capture> capture) { capture_ = std::move(capture); }
  Capture* capture() { return capture_.get(); }
  /// Sessions that other gateways go on from too. Null: they are in memory alone.
  void share(std::unique_ptr<SharedSessions> shared) { shared_ = std::move(shared); }
  SharedSessions* shared() { return shared_.get(); }
  std::chrono::milliseconds keep_alive() const { return keep_alive_; }
  /// Bytes that a request's body may have.
  std::size_t most_body() const { return most_body_; }
  /// Null: no page may show turns.
  Inspector* inspector() { return inspector_.get(); }
  const Log& log() const { return log_; }
  /// Counts and logs what an engine did to a session, or that a request was refused before.
  void count(const EngineFailure& failure, std::string_view session, std::string_view request);
  /// For gauges of the server's connections.
  void watch(const HttpServer& server) { server_ = &server; }
  const HttpServer* server() const { return server_; }

 private:
  /// What is wrong with a request, its body apart; status 0: nothing.
  ReplyApiError refusal_by_header(const HttpRequest& request, const Offer& offer) const;

  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<const Offer> offer_;

  const std::chrono::milliseconds keep_alive_;
  const std::size_t most_body_;
  const std::optional<KnownHosts> hosts_;
  SessionStore sessions_;
  StoredResponses responses_;
  StoredConversations conversations_;
  Metrics metrics_;
  Log log_;
  std::unique_ptr<Capture> capture_;
  std::unique_ptr<SharedSessions> shared_;
  std::unique_ptr<Inspector> inspector_;
  const HttpServer* server_ = nullptr;
  WorkerPool workers_{std::max(1U, std::thread::hardware_concurrency())};
};

/// What a client is told apart by: its API key.
std::string owner_of(const HttpRequest& request);

}  // namespace parlance::serve
