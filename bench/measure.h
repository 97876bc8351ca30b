// What the programs of the benchmark share that measure the library by themselves: values or the end, and time.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace parlance::bench {

/// The value; a failure is printed and ends the program.
template <typename Result>
auto value_or_end(Result result) {
  if (result) return std::move(*result);
  std::fputs(result.error().display().c_str(), stderr);
  std::exit(1);
}

using Clock = std::chrono::steady_clock;
inline double seconds(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Seconds that a call takes, over as many as fill `least` seconds.
template <typename Run>
double timed(const Run& run, double least) {
  int count = 0;
  const Clock::time_point begin = Clock::now();
  do {
    run();
    ++count;
  } while (seconds(begin) < least);
  return seconds(begin) / count;
}

}  // namespace parlance::bench
