// The clock of runs, which nobody sets.
#pragma once
#include <chrono>

namespace parlance::agent {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace parlance::agent
