// OrderedWork: work for a pool of threads. What has the same name is done in the order in which it came, one after the
// other; what has different names is done at the same time.
#pragma once
#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "serve/http/in_pool.h"

namespace parlance::serve {

/// Threads: any.
class OrderedWork {
 public:
  explicit OrderedWork(std::size_t threads) : pool_(threads_to_be_had(threads)) {}
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
  asio::thread_pool pool_;
};

}  // namespace parlance::serve
