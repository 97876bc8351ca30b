// When a render lets go of the GIL.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gil.h"

namespace parlance::python {

namespace nb = nanobind;

/// How large a request of a template may be, in bytes of its texts, and is yet rendered so soon that to let go of the
/// GIL and to wait for it again would take longer. Found out from the renders themselves.   Threads: any.
class QuickSize {
 public:
  bool has(std::size_t size) const { return size < end_.load(std::memory_order_relaxed); }
  /// Whether a quick one is measured again. About one in eight is: looking at a clock twice takes a fiftieth of a small
  /// one, and counting exactly would take half of that.
  bool is_due() {
    const std::uint32_t turn = turn_.load(std::memory_order_relaxed);
    turn_.store(turn + 1, std::memory_order_relaxed);
    return turn % 8 == 0;
  }
  void note(std::size_t size, std::chrono::nanoseconds taken) {
    constexpr std::chrono::microseconds kQuick(20);
    if (taken > kQuick) {
      if (has(size)) end_.store(size, std::memory_order_relaxed);
    } else if (!has(size)) {
      end_.store(size + 1, std::memory_order_relaxed);
    }
  }

 private:
  std::atomic<std::size_t> end_ = 0;
  std::atomic<std::uint32_t> turn_ = 0;
};

/// Lets go of the GIL, as long as this lives, where a request of this size is not known to be quick.
class GilAside {
 public:
  using Clock = std::chrono::steady_clock;

  GilAside(QuickSize& quick, std::size_t size) : quick_(quick), size_(size) {
    const bool is_quick = quick.has(size);
    if (!is_quick) release_.emplace();
    measures_ = !is_quick || quick.is_due();
    if (measures_) begin_ = Clock::now();
  }
  GilAside(const GilAside&) = delete;
  GilAside& operator=(const GilAside&) = delete;
  ~GilAside() {
    if (measures_) quick_.note(size_, Clock::now() - begin_);
  }

 private:
  QuickSize& quick_;
  std::size_t size_;
  std::optional<GilRelease> release_;
  bool measures_;
  Clock::time_point begin_;
};

}  // namespace parlance::python
