// Runs a command again and again: the median time from spawn to exit, and the peak resident memory.
//
// Usage: launch COUNT COMMAND [ARGUMENT...]. Standard output of the command goes to /dev/null. This
// is a program of its own, and a small one, because Linux counts the memory of the process that
// spawns towards the peak of the process it spawns. Used by memory.py.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

extern char** environ;

namespace {

struct Run {
  double ms = 0;
  long peak_kb = 0;
  bool ok = false;
};

Run run_once(char** argv, const posix_spawn_file_actions_t* actions) {
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], actions, nullptr, argv, environ) != 0) return {};
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child) return {};
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return {took.count(), usage.ru_maxrss, WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 2 ? std::atoi(argv[1]) : 0;
  if (count < 1) {
    std::fprintf(stderr, "usage: launch COUNT COMMAND [ARGUMENT...]\n");
    return 2;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  std::vector<double> times;
  long peak_kb = 0;
  for (int i = 0; i < count; ++i) {
    const Run run = run_once(argv + 2, &actions);
    if (!run.ok) {
      std::fprintf(stderr, "launch: %s failed\n", argv[2]);
      return 1;
    }
    times.push_back(run.ms);
    peak_kb = std::max(peak_kb, run.peak_kb);
  }
  const auto middle = times.begin() + count / 2;
  std::nth_element(times.begin(), middle, times.end());
  std::printf("{\"ms\": %.4f, \"peak_kb\": %ld}\n", *middle, peak_kb);
  return 0;
}
