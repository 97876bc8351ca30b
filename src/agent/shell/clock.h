// The clock of runs, which nobody sets.
#pragma once
#include <chrono>

namespace parlance::agent {

using Clock = std::chrono::steady_clock;

constexpr int kTick = 50;  // milliseconds between two looks at a run

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace parlance::agent
