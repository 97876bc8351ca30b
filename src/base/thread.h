// Thread: one that can be asked for where exceptions are off.
#pragma once
#include <pthread.h>

#include <functional>
#include <optional>

namespace parlance {

class Thread {
 public:
  /// Calls `work` in a thread of its own, which somebody has to join(). Nothing: the user may have no more threads.
  static std::optional<Thread> start(std::function<void()> work);
  /// Waits until the work is done. Once.
  void join() { pthread_join(thread_, nullptr); }

 private:
  explicit Thread(pthread_t thread) : thread_(thread) {}

  pthread_t thread_;
};

}  // namespace parlance
