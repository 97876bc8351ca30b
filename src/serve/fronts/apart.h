// Work that takes long is done apart from the threads that serve connections: others are answered meanwhile.
#pragma once
#include "serve/fronts/routes.h"
#include "serve/http/in_pool.h"

namespace parlance::serve {

/// What `make()` returns, for the request of this call: at once where the request is short, else by a thread of the
/// gateway's own. `make` must not touch the connection.
template <typename Make>
Task<std::invoke_result_t<Make&>> apart(Call& call, Make& make) {
  constexpr std::size_t kShort = std::size_t{64} << 10;
  if (call.exchange.request().body.size() <= kShort) co_return make();
  co_return co_await in_pool(call.gateway.workers(), make);
}

}  // namespace parlance::serve
