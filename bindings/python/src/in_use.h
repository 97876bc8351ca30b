// Says that an object is in use, which one thread at a time may use.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "own_locks.h"

namespace parlance::python {

/// Whether an object is in use. One that is copied or moved is used by nobody.
class InUse {
  struct Leave {
    void operator()(std::atomic<unsigned>* used) const { used->store(0); }
  };

 public:
  using Entered = std::unique_ptr<std::atomic<unsigned>, Leave>;

  InUse() = default;
  InUse(const InUse& /*from*/) {}
  InUse(InUse&& /*from*/) noexcept {}
  ~InUse() = default;
  InUse& operator=(const InUse&) = delete;
  InUse& operator=(InUse&&) = delete;

  /// It is as long as what comes back is kept. Raises RuntimeError where it is already: by another thread, or by a call
  /// that Python's code was called in. `what` is the object, for the error. A child of fork() has none of the threads
  /// that used it in its parent.
  Entered enter(const char* what) const {
    const unsigned process = process_number();
    if (used_in_.exchange(process) == process)
      throw std::runtime_error("this " + std::string(what) + " is in use already: one call at a time, of one thread");
    return Entered(&used_in_);
  }
  /// The same for a call that changes nothing. Where there is a GIL it always may: a change is whole when others run.
  Entered enter_to_read([[maybe_unused]] const char* what) const {
#ifdef Py_GIL_DISABLED
    return enter(what);
#else
    return {};
#endif
  }
  /// Whether a thread of this process's parent was using it at fork().
  bool is_left() const {
    const unsigned used_in = used_in_.load();
    return used_in != 0 && used_in != process_number();
  }
  /// Ends what enter() began, of which nobody keeps what came back.
  void leave() const { used_in_.store(0); }

 private:
  mutable std::atomic<unsigned> used_in_ = 0;  ///< process_number(); 0: nobody uses it
};

}  // namespace parlance::python
