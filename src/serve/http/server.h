// HttpServer: accepts connections, reads requests within limits, and calls a handler for each.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "parlance/result.h"
#include "serve/http/exchange.h"
#include "serve/http/limits.h"
#include "serve/http/loops.h"

namespace parlance::serve {

/// Answers a request that was read, or one that was refused (`refused` is the status then, else 0). An exception that
/// it throws closes the connection.
using HttpHandler = std::function<Task<>(Exchange&, unsigned refused)>;

/// Asked about a request whose header has come, and more of whose body is to come: may that be read? Else the handler
/// gets the request without its body.
using HttpGate = std::function<bool(const HttpRequest& header)>;

/// What the server did so far.
struct HttpCounts {
  std::uint64_t accepted = 0;
  std::size_t open = 0;       ///< connections
  std::size_t answering = 0;  ///< those with a request that is not yet answered
  std::uint64_t gone = 0;     ///< clients that left before their answer was whole
};

/// Threads: any.
class HttpServer {
 public:
  /// `loops` must live longer, and run no more when it ends.
  HttpServer(Loops& loops, HttpLimits limits, HttpHandler handler, HttpGate gate = {});
  ~HttpServer();

  /// Accepts connections at an address ("127.0.0.1", "::1") and port; 0: any free one. Returns the port.
  /// Fails with usage (no such address), file (the port cannot be had).
  Result<std::uint16_t> listen(const std::string& address, std::uint16_t port);
  /// Serves a connection that is there already, by its descriptor, which it closes at its end.
  void take(int descriptor);
  /// Accepts no more, and closes each connection once its request is answered.
  void drain();
  /// Closes all connections.
  void close();
  HttpCounts counts() const;
  /// drain() was called: answers without an end should end.
  bool draining() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace parlance::serve
