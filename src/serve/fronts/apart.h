// Work that takes long is done apart from the threads that serve connections: others are answered meanwhile.
#pragma once
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <type_traits>

#include "serve/fronts/routes.h"

namespace parlance::serve {

/// What `make()` returns, for the request of this call: at once where the request is short, else by a thread of the
/// gateway's own. `make` must not touch the connection.
template <typename Make>
Task<std::invoke_result_t<Make&>> apart(Call& call, Make& make) {
  constexpr std::size_t kShort = std::size_t{64} << 10;
  if (call.exchange.request().body.size() <= kShort) co_return make();
  std::optional<std::invoke_result_t<Make&>> made;
  const auto work = [&]() -> Task<> {
    made.emplace(make());
    co_return;
  };
  co_await asio::co_spawn(call.gateway.workers(), work(), asio::use_awaitable);
  co_return std::move(*made);
}

}  // namespace parlance::serve
