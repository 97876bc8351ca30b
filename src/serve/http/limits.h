// What a client may take of the gateway.
#pragma once
#include <chrono>
#include <cstddef>

namespace parlance::serve {

/// What a client may take.
///
///     field        default  effect
///     connections  16384    more are answered with 503 without their bodies, and closed; they have 2 s to ask
///     header       64 KiB   of a request's header; else 431
///     body         64 MiB   of a request's body; else 413
///     idle         300 s    a connection may wait for its next request
///     receive      60 s     a request's header, and then its body, may take
///     send         60 s     a client may take no byte of an answer
struct HttpLimits {
  std::size_t connections = 16384;
  std::size_t header = std::size_t{64} << 10;
  std::size_t body = std::size_t{64} << 20;
  std::chrono::milliseconds idle = std::chrono::seconds(300);
  std::chrono::milliseconds receive = std::chrono::seconds(60);
  std::chrono::milliseconds send = std::chrono::seconds(60);
};

}  // namespace parlance::serve
