// A limit of time for a coroutine.
#pragma once
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>

#include "serve/http/task.h"

namespace parlance::serve {

/// Has `make()` ended in time? Else it was cancelled. Throws what it throws before.
template <typename Make>
Task<bool> within(std::chrono::milliseconds most, const Make& make) {
  struct Limit {
    asio::cancellation_signal stop;
    bool late = false, over = false;
  };
  const auto limit = std::make_shared<Limit>();  // the timer's handler may come later than all else ends
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, most);
  timer.async_wait([limit](const boost::system::error_code& ended) {
    if (ended || limit->over) return;
    limit->late = true;
    limit->stop.emit(asio::cancellation_type::terminal);
  });
  std::exception_ptr failed;
  try {
    co_await asio::co_spawn(executor, make(), asio::bind_cancellation_slot(limit->stop.slot(), asio::use_awaitable));
  } catch (...) {
    failed = std::current_exception();
  }
  limit->over = true;
  if (failed && !limit->late) std::rethrow_exception(failed);
  co_return !limit->late;
}

}  // namespace parlance::serve
