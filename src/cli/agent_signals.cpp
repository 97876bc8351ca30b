// Handlers of signals, and a pipe by which they wake up who waits. Begin reading at on_signal.
#include "cli/agent_signals.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace parlance::cli {
namespace {

volatile sig_atomic_t end_is_wanted = 0;
volatile sig_atomic_t is_untold = 0;             // a signal that nobody has been told of
volatile std::int64_t last_interrupt = -10'000;  // milliseconds
int wake_up[2] = {-1, -1};

void on_signal(int signal) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t milliseconds = now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
  if (signal != SIGINT || milliseconds - last_interrupt < 2000) end_is_wanted = 1;
  last_interrupt = milliseconds;
  is_untold = 1;
  const char byte = 0;
  [[maybe_unused]] const auto written = ::write(wake_up[1], &byte, 1);
}

/// Not SIG_IGN, which programs that are started would inherit.
void on_broken_output(int) {}

}  // namespace

bool wants_end() { return end_is_wanted != 0; }

bool has_interrupt() { return is_untold != 0; }

AgentSignals::AgentSignals() {
  if (::pipe2(wake_up, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, &before_[0]);
  ::sigaction(SIGTERM, &action, &before_[1]);
  ::sigaction(SIGHUP, &action, &before_[2]);
  if (before_[2].sa_handler == SIG_IGN) ::sigaction(SIGHUP, &before_[2], nullptr);  // nohup
  action.sa_handler = on_broken_output;
  ::sigaction(SIGPIPE, &action, nullptr);  // also for what is written at the end
}

AgentSignals::~AgentSignals() {
  before_[0].sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &before_[0], nullptr);
  ::sigaction(SIGTERM, &before_[1], nullptr);
  ::sigaction(SIGHUP, &before_[2], nullptr);
  ::close(wake_up[0]);
  ::close(wake_up[1]);
}

bool AgentSignals::was_interrupted() const {
  const bool was = is_untold != 0;
  is_untold = 0;
  return was;
}

int AgentSignals::descriptor() const { return wake_up[0]; }

void AgentSignals::clear() const {
  is_untold = 0;
  char bytes[16];
  while (end_is_wanted == 0 && ::read(wake_up[0], bytes, sizeof bytes) > 0) continue;
}

}  // namespace parlance::cli
