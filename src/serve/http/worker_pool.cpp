// Starts threads, and ends them.
#include "serve/http/worker_pool.h"

#include <system_error>

namespace parlance::serve {

WorkerPool::WorkerPool(std::size_t most) : work_(context_.get_executor()) {
  threads_.reserve(most);
  try {
    while (threads_.size() < most) threads_.emplace_back([this] { context_.run(); });
  } catch (const std::system_error&) {
    if (threads_.empty()) throw;
  }
}

WorkerPool::~WorkerPool() { context_.stop(); }

void WorkerPool::join() {
  work_.reset();
  threads_.clear();
}

}  // namespace parlance::serve
