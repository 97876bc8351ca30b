// OrderedWork: work for a pool of threads. What has the same name is done in the order in which it came, one after the
// other; what has different names is done at the same time.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "serve/http/worker_pool.h"

namespace parlance::serve {

/// Threads: any.
class OrderedWork {
 public:
  explicit OrderedWork(std::size_t threads) : pool_(threads) {}
  OrderedWork(const OrderedWork&) = delete;
  OrderedWork& operator=(const OrderedWork&) = delete;
  /// Waits until all is done.
  ~OrderedWork() { pool_.join(); }

  /// `work` throws nothing.
  void add(const std::string& name, std::function<void()> work);
  /// Until nothing is left to do.
  void wait();

 private:
  void go_on(const std::string& name);

  std::mutex mutex_;  // of what follows
  std::condition_variable none_left_;
  std::unordered_map<std::string, std::deque<std::function<void()>>> left_;  ///< the first of each is being done
  WorkerPool pool_;
};

}  // namespace parlance::serve
