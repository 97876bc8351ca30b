// RunClock: the time of a run of `parlance agent`.
#pragma once
#include <chrono>
#include <cstdint>

namespace parlance::cli {

/// What is left of --max-seconds; unset: there is no such limit.
class RunClock {
 public:
  explicit RunClock(std::uint64_t seconds) : seconds_(static_cast<double>(seconds)) {}
  bool is_limited() const { return seconds_ > 0; }
  double remaining() const {
    return seconds_ - std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }
  bool is_over() const { return is_limited() && remaining() <= 0; }

 private:
  const double seconds_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace parlance::cli
