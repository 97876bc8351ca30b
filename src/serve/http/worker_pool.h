// WorkerPool: threads for work that takes long, or waits for a disk.
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include "serve/http/task.h"

namespace parlance::serve {

/// Not Boost's thread_pool: where a user may not have so many threads, that one waits for ever for those that it has.
/// Threads: any, but for join().
class WorkerPool {
 public:
  /// Starts `most` threads, or as many as the user may have. Throws std::system_error where that is none.
  explicit WorkerPool(std::size_t most);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  /// Work that nobody has begun is not done.
  ~WorkerPool();

  /// `job` can be moved, is called once, and throws nothing.
  template <typename Job>
  void post(Job&& job) {
    asio::post(context_, std::forward<Job>(job));
  }
  /// Waits until all that was posted is done, and ends the threads.
  void join();
  /// Of its threads.
  std::size_t size() const { return threads_.size(); }

 private:
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::jthread> threads_;
};

}  // namespace parlance::serve
