// Says that an object is in use, which one thread at a time may use.
#pragma once
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

namespace parlance::python {

/// Whether an object is in use. One that is copied or moved is used by nobody.
class InUse {
  struct Leave {
    void operator()(std::atomic<bool>* used) const { used->store(false); }
  };

 public:
  using Entered = std::unique_ptr<std::atomic<bool>, Leave>;

  InUse() = default;
  InUse(const InUse& /*from*/) {}
  InUse(InUse&& /*from*/) noexcept {}
  ~InUse() = default;
  InUse& operator=(const InUse&) = delete;
  InUse& operator=(InUse&&) = delete;

  /// It is as long as what comes back is kept. Raises RuntimeError where it is already: by another thread, or by a call
  /// that Python's code was called in. `what` is the object, for the error.
  Entered enter(const char* what) const {
    if (is_used_.exchange(true))
      throw std::runtime_error("this " + std::string(what) + " is in use already: one call at a time, of one thread");
    return Entered(&is_used_);
  }

 private:
  mutable std::atomic<bool> is_used_ = false;
};

}  // namespace parlance::python
