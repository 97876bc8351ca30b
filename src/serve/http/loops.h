// Loops: the threads that serve connections.
#pragma once
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "serve/http/task.h"

namespace parlance::serve {

/// Each thread has an io_context of its own. A connection stays in the one that it was given, with its timers and its
/// request to an engine, so nothing of it has to be locked, and no thread wakes up another.
/// Threads: any, but for run().
class Loops {
 public:
  explicit Loops(unsigned count);
  ~Loops();

  /// Runs all, the first in this thread, until stop(). Throws std::system_error where it cannot have so many threads.
  void run();
  void stop();

  /// For what is not a connection: acceptors, signals.
  asio::io_context& first() { return *contexts_.front(); }
  /// For a new connection: each in turn.
  asio::io_context& next() { return *contexts_[turn_++ % contexts_.size()]; }

 private:
  using Guard = asio::executor_work_guard<asio::io_context::executor_type>;
  std::vector<std::unique_ptr<asio::io_context>> contexts_;
  std::vector<Guard> guards_;
  std::atomic<std::size_t> turn_ = 0;
};

}  // namespace parlance::serve
