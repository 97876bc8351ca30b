// Locks and forks; see fork_lock.h.
#include "base/fork_lock.h"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <utility>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace parlance {
namespace {

/// Each has a cache line of its own.
struct alignas(64) Lock {
  std::mutex mutex;
};

/// All are held for a moment as the process forks. TSan's detector of deadlocks ends the program where a thread holds
/// more than 64.
constexpr std::size_t kLocks = 40, kOuterLocks = 12;
constinit std::array<Lock, kLocks + kOuterLocks> locks{};
constinit std::atomic<unsigned> forks = 0;

#if __has_include(<pthread.h>)
/// The outer ones, which stand behind the others, first: as threads take them.
void before_fork() {
  for (auto lock = locks.rbegin(); lock != locks.rend(); ++lock) lock->mutex.lock();
}

void after_fork() {
  for (Lock& lock : locks) lock.mutex.unlock();
}

void in_child() {
  forks.fetch_add(1);
  after_fork();
}

[[maybe_unused]] const int registered = pthread_atfork(before_fork, after_fork, in_child);
#endif

}  // namespace

std::mutex& fork_lock::of(const void* object, int level) {
  const std::uint64_t spread = std::uint64_t{reinterpret_cast<std::uintptr_t>(object)} * 0x9E3779B97F4A7C15U >> 32;
  const std::size_t first = level == 0 ? 0 : kLocks, count = level == 0 ? kLocks : kOuterLocks;
  return locks[first + static_cast<std::size_t>(spread * count >> 32)].mutex;
}

unsigned fork_lock::generation() { return forks.load(std::memory_order_relaxed); }

/// Of the threads of one process. Those who wait for it as a process forks are not there in the child, and what they
/// wait on can be neither used nor destroyed there: so a child has another.
struct LongMutex::Turns {
  Turns(unsigned of_generation, bool is_torn_in) : generation(of_generation), is_torn(is_torn_in) {}
  const unsigned generation;
  bool is_torn;
  bool is_held = false;
  std::condition_variable freed;
};

LongMutex::~LongMutex() {
  if (turns_ != nullptr && turns_->generation == fork_lock::generation()) delete turns_;
}

void LongMutex::lock() {
  std::unique_lock lock(fork_lock::of(this, 0));
  if (turns_ == nullptr || turns_->generation != fork_lock::generation())
    turns_ = new Turns(fork_lock::generation(), turns_ != nullptr && (turns_->is_held || turns_->is_torn));
  turns_->freed.wait(lock, [this] { return !turns_->is_held; });
  turns_->is_held = true;
}

void LongMutex::unlock() {
  const std::lock_guard lock(fork_lock::of(this, 0));
  turns_->is_held = false;
  turns_->freed.notify_one();
}

bool LongMutex::take_torn() {
  const std::lock_guard lock(fork_lock::of(this, 0));
  return std::exchange(turns_->is_torn, false);
}

}  // namespace parlance
