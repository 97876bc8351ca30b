// A lock of one object, where there is no GIL.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>

#include "own_locks.h"

namespace parlance::python {

namespace nb = nanobind;

/// What is copied has one of its own, and so has what a child of fork() has: that of its parent may have been given to
/// a thread that waited for it, of which nothing is left there. fork() itself waits until no thread is in code that has
/// it, so what it guards is whole.   Threads: any.
class FreshLock {
 public:
  FreshLock() = default;
  FreshLock(const FreshLock& /*from*/) {}
  ~FreshLock() { delete later_.load(); }
  FreshLock& operator=(const FreshLock&) = delete;

  /// That of this process.
  nb::ft_mutex& now() const {
#if defined(NB_FREE_THREADED)
    if (process_ != process_number()) return of_child();
#endif
    return first_;
  }

 private:
  struct Later {
    unsigned process;
    nb::ft_mutex mutex{};
  };

  /// The first thread that asks makes it. The one of a process between is not destroyed: a few bytes.
  nb::ft_mutex& of_child() const {
    Later* known = later_.load();
    if (known != nullptr && known->process == process_number()) return known->mutex;
    auto made = std::make_unique<Later>(process_number());
    if (later_.compare_exchange_strong(known, made.get())) return made.release()->mutex;
    return known->mutex;
  }

  mutable nb::ft_mutex first_;
  const unsigned process_ = process_number();
  mutable std::atomic<Later*> later_ = nullptr;
};

}  // namespace parlance::python
