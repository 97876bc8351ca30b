// Watchdog: counts the processes and the memory of a sandbox, a few times a second, and ends what takes too much.
//
// The kernel's own limits do not do: those of a process (RLIMIT_AS) are not for a sum, that of a user (RLIMIT_NPROC)
// not for root, and control groups are seldom ours to write.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/sandbox/launch.h"
#include "agent/sandbox/policy.h"

namespace parlance::agent {

class Watchdog {
 public:
  /// Watches what descends from `root`, in a thread of its own, until it is destroyed. `end` ends the whole sandbox.
  template <typename End>
  Watchdog(pid_t root, const SandboxLimits& limits, End end) : root_(root), limits_(limits) {
    thread_ = std::thread([this, end] { run(end); });
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  /// What it has ended since the last call, as sentences for the model.
  std::vector<std::string> take_notes();

 private:
  template <typename End>
  void run(const End& end) {
    prefer_this_thread();
    while (pause()) {
      if (!look()) end();
    }
  }
  /// False: it shall stop.
  bool pause();
  /// False: the whole sandbox shall end.
  bool look();
  void note(std::string sentence);

  pid_t root_;
  SandboxLimits limits_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::vector<std::string> notes_;
  bool said_ = false;  ///< that all were ended
  double cost_ = 0;    ///< seconds that the last look took
  std::thread thread_;
};

}  // namespace parlance::agent
