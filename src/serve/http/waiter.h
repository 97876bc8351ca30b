// Waiter: one who waits until somebody on another thread wakes it.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>

#include "serve/http/task.h"

namespace parlance::serve {

/// Whether it waits in vain, only those who share it know: what they agree upon has a mutex of its own.
class Waiter {
 public:
  using Moment = asio::steady_timer::time_point;

  /// `on`: where it waits.
  explicit Waiter(asio::any_io_executor on) : executor_(std::move(on)), timer_(executor_) {}

  /// Until it is woken, the time is up, or the coroutine is cancelled: an error but for the second.
  Task<boost::system::error_code> wait(Moment at_most = Moment::max()) {
    boost::system::error_code woken;
    timer_.expires_at(at_most);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    co_return woken;
  }

  /// From any thread. What it posts to the executor comes behind what runs there, so the wait has begun by then.
  static void wake(const std::shared_ptr<Waiter>& one) {
    asio::post(one->executor_, [one] { one->timer_.cancel(); });
  }

 private:
  asio::any_io_executor executor_;
  asio::steady_timer timer_;  ///< used on the executor alone
};

}  // namespace parlance::serve
