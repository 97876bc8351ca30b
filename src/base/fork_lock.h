// Locks that do not outlive their holders in a forked child.
//
// Of a process that forks, the child has one thread: a lock that another thread held would stay locked in it for ever.
// Python's programs fork much: workers of a data loader, pools of processes. What is guarded for a moment is guarded by
// a BriefMutex, which no fork happens amid; what takes long is made with a LongMutex, which a child finds free, so that
// it begins anew with what it needs. No other kind of lock belongs into what a template or a request keeps.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

namespace parlance {

namespace fork_lock {

inline constexpr int kLevels = 2;
/// The lock of an object. Objects have some in common.
std::mutex& of(const void* object, int level);
/// How many forks there are between this process and the one that began.
unsigned generation();

}  // namespace fork_lock

/// A mutex to hold for a moment: while memory is read or changed, never while anything renders, waits or calls out.
/// fork() waits until nobody holds one, so that what it guards is whole in the child.
///
/// Mutexes share the locks that they are made of: who holds one may take another only if that is of a lower level.
template <int Level>
class BriefMutexOf {
  static_assert(Level < fork_lock::kLevels);

 public:
  BriefMutexOf() = default;
  BriefMutexOf(const BriefMutexOf&) = delete;
  BriefMutexOf& operator=(const BriefMutexOf&) = delete;

  void lock() const { fork_lock::of(this, Level).lock(); }
  void unlock() const { fork_lock::of(this, Level).unlock(); }
};
using BriefMutex = BriefMutexOf<0>;
using OuterBriefMutex = BriefMutexOf<1>;  ///< under which a BriefMutex may be taken

/// A mutex to hold while something is made that takes long. A child that is forked meanwhile finds it free.
class LongMutex {
 public:
  LongMutex() = default;
  LongMutex(const LongMutex&) = delete;
  LongMutex& operator=(const LongMutex&) = delete;
  ~LongMutex();

  void lock();
  void unlock();
  /// For who holds it: whether the process was forked while another did, so that what it guards may be half changed.
  /// True once: the caller makes that anew, and does not touch, nor destroy, what there was.
  bool take_torn();

 private:
  struct Turns;
  Turns* turns_ = nullptr;
};

/// An object that the first who asks makes; others wait for it. In a child that is forked meanwhile it is made again.
template <typename T>
class MadeOnce {
 public:
  MadeOnce() = default;
  MadeOnce(const MadeOnce&) = delete;
  MadeOnce& operator=(const MadeOnce&) = delete;
  ~MadeOnce() { delete made_.load(std::memory_order_acquire); }

  /// `make` gives a std::unique_ptr<T>.
  template <typename Make>
  T& get(Make make) {
    if (T* const made = made_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(making_);
    if (T* const made = made_.load(std::memory_order_acquire)) return *made;
    std::unique_ptr<T> made = make();
    made_.store(made.get(), std::memory_order_release);
    return *made.release();
  }

 private:
  LongMutex making_;
  std::atomic<T*> made_ = nullptr;
};

}  // namespace parlance
