// What is made when it is first asked for.
#pragma once
#include <atomic>
#include <memory>

namespace parlance::python {

/// Of two threads that make it at once, that of the first stays.   Threads: any; to forget and to move need it alone.
template <typename T>
class MadeOnce {
 public:
  MadeOnce() = default;
  MadeOnce(MadeOnce&& from) noexcept : made_(from.made_.exchange(nullptr)) {}
  MadeOnce& operator=(MadeOnce&&) = delete;
  ~MadeOnce() { forget(); }

  /// `make` gives a T. Lifetime: until forget().
  template <typename Make>
  const T& get(const Make& make) const {
    if (const T* const known = made_.load(std::memory_order_acquire)) return *known;
    auto made = std::make_unique<const T>(make());
    const T* known = nullptr;
    const bool is_first = made_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel);
    return is_first ? *made.release() : *known;
  }
  void forget() { delete made_.exchange(nullptr); }

 private:
  mutable std::atomic<const T*> made_ = nullptr;
};

}  // namespace parlance::python
