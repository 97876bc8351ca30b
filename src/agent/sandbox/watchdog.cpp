// Begin reading at look.
#include "agent/sandbox/watchdog.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "agent/sandbox/process_tree.h"

namespace parlance::agent {

namespace {

constexpr double kPause = 0.05;  // seconds between two looks
constexpr double kShare = 0.05;  // of one processor, at most
constexpr std::uint64_t kMiB = 1ULL << 20;

}  // namespace

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::vector<std::string> Watchdog::take_notes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(notes_, {});
}

void Watchdog::note(std::string sentence) {
  const std::lock_guard<std::mutex> lock(mutex_);
  notes_.push_back(std::move(sentence));
}

bool Watchdog::pause() {
  std::unique_lock<std::mutex> lock(mutex_);
  const std::chrono::duration<double> length(std::max(kPause, cost_ / kShare));
  wake_.wait_for(lock, length, [this] { return stopping_; });
  return !stopping_;
}

bool Watchdog::look() {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<ProcessFacts> all = processes_below(root_);
  cost_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::uint64_t threads = 0, resident = 0;
  for (const ProcessFacts& facts : all) {
    threads += facts.threads;
    resident += facts.resident;
  }
  if (threads > limits_.processes) {
    if (!std::exchange(said_, true))
      note("All processes were ended: there were " + std::to_string(threads) +
           " processes and threads, and the limit is " + std::to_string(limits_.processes) + ".");
    return false;
  }
  if (resident <= limits_.memory) return true;
  // What processes share was counted for each. The exact sum takes longer.
  std::uint64_t total = 0;
  for (ProcessFacts& facts : all) total += facts.resident = proportional_memory(facts.pid);
  if (total <= limits_.memory) return true;
  const auto smaller = [](const ProcessFacts& left, const ProcessFacts& right) {
    return left.resident < right.resident;
  };
  const ProcessFacts largest = *std::max_element(all.begin(), all.end(), smaller);
  if (kill(largest.pid, SIGKILL) == 0) {
    note("The largest process was ended: the processes took " + std::to_string(total / kMiB) +
         " MiB of memory together, and the limit is " + std::to_string(limits_.memory / kMiB) + " MiB.");
  }
  return true;
}

}  // namespace parlance::agent
