// Work that takes long is done apart from the threads that serve connections: others are answered meanwhile.
#pragma once
#include <optional>

#include "serve/fronts/errors.h"
#include "serve/fronts/routes.h"
#include "serve/http/in_pool.h"
#include "serve/sessions/lookup.h"

namespace parlance::serve {

/// What `make()` returns, for the request of this call: at once where the request is short, else by a thread of the
/// gateway's own. `make` must not touch the connection.
template <typename Make>
Task<std::invoke_result_t<Make&>> apart(Call& call, Make& make) {
  co_return co_await in_pool_if_long(call.gateway.workers(), call.exchange.request().body.size(), make);
}

/// The same for what asks for kept conversations: `make(may_wait)`. Where it throws AskApart, a thread that may wait
/// makes it once more. Throws as Sessions do.
template <typename Make>
Task<std::invoke_result_t<Make&, bool>> apart_with_sessions(Call& call, Make& make) {
  const auto at_once = [&make] { return make(false); };
  std::optional<std::invoke_result_t<Make&, bool>> made;
  try {
    made.emplace(co_await apart(call, at_once));
  } catch (const AskApart&) {
    made.reset();
  }
  if (made) co_return std::move(*made);
  const auto waiting = [&make] { return make(true); };
  SharedSessions* const shared = call.gateway.shared();
  co_return co_await in_pool(shared != nullptr ? shared->pool() : call.gateway.workers(), waiting);
}

/// The value that `make(may_wait)`, which is made apart_with_sessions(), gives as a Result. Unset: it failed, or the
/// shared sessions did, and the client was told.
template <typename Value, typename Make>
Task<std::optional<Value>> apart_or_refused(Call& call, ReplyApi api, Make& make) {
  std::optional<Result<Value>> made;
  std::optional<ReplyApiError> failed;
  try {
    made.emplace(co_await apart_with_sessions(call, make));
  } catch (const SharedFailure& failure) {
    failed = error_of(failure);
  }
  if (!failed && !*made) failed = error_of(made->error());
  if (!failed) co_return std::move(**made);
  co_await refuse(call.exchange, api, *failed);
  co_return std::nullopt;
}

}  // namespace parlance::serve
