// Work that takes long, or waits for a disk, in a pool of threads: a coroutine goes on behind it where it was.
#pragma once
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "serve/http/task.h"
#include "serve/http/worker_pool.h"

namespace parlance::serve {

/// What `work()` returns or throws, in a thread of somebody who is given it by `give`, as a function that can be moved
/// and is called once. It runs to its end, also when the client is gone: a coroutine that is spawned there would be
/// ended by an exception that nobody catches. That thread must have ended before the coroutine's own executor goes.
template <typename Give, typename Work>
Task<std::invoke_result_t<Work&>> elsewhere(Give& give, Work& work) {
  std::optional<std::invoke_result_t<Work&>> made;
  std::exception_ptr failed;
  const auto start = [&](auto&& handler) {
    auto back = asio::prefer(asio::get_associated_executor(handler), asio::execution::outstanding_work.tracked);
    give([&made, &failed, &work, back, handler = std::move(handler)]() mutable {
      try {
        made.emplace(work());
      } catch (...) {
        failed = std::current_exception();
      }
      asio::post(back, std::move(handler));
    });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(start, asio::use_awaitable);
  if (failed) std::rethrow_exception(failed);
  co_return std::move(*made);
}

/// The same in a thread of the pool, which must be joined before the coroutine's own executor goes.
template <typename Work>
Task<std::invoke_result_t<Work&>> in_pool(WorkerPool& pool, Work& work) {
  const auto give = [&pool](auto job) { pool.post(std::move(job)); };
  co_return co_await elsewhere(give, work);
}

/// Bytes that a thread which serves connections goes through itself.
constexpr std::size_t kShortWork = std::size_t{64} << 10;

/// What `work()` returns: at once where it goes through few bytes, else in_pool().
template <typename Work>
Task<std::invoke_result_t<Work&>> in_pool_if_long(WorkerPool& pool, std::size_t bytes, Work& work) {
  if (bytes <= kShortWork) co_return work();
  co_return co_await in_pool(pool, work);
}

}  // namespace parlance::serve
