// Handlers of signals, and a pipe by which they wake up who waits. Begin reading at on_signal.
#include "cli/agent/agent_signals.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <iterator>

namespace parlance::cli {
namespace {

constexpr int kEndings[] = {SIGINT, SIGTERM, SIGHUP};

// Any thread may run a handler, and two threads two at once.
std::atomic<bool> end_is_wanted = false;
std::atomic<bool> is_untold = false;                 // a signal that nobody has been told of
std::atomic<std::int64_t> last_interrupt = -10'000;  // milliseconds
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);
int wake_up[2] = {-1, -1};

void on_signal(int signal) {
  const int kept = errno;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t milliseconds = now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
  if (signal != SIGINT || milliseconds - last_interrupt.exchange(milliseconds) < 2000) end_is_wanted = true;
  is_untold = true;
  (void)!::write(wake_up[1], "", 1);
  errno = kept;
}

/// Not SIG_IGN, which programs that are started would inherit.
void on_broken_output(int) {}

}  // namespace

bool wants_end() { return end_is_wanted; }

bool has_interrupt() { return is_untold; }

AgentSignals::AgentSignals() {
  if (::pipe2(wake_up, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int ending : kEndings) ::sigaddset(&action.sa_mask, ending);  // none of them within another
  for (std::size_t i = 0; i < std::size(kEndings); ++i) ::sigaction(kEndings[i], &action, &before_[i]);
  if (before_[2].sa_handler == SIG_IGN) ::sigaction(SIGHUP, &before_[2], nullptr);  // nohup
  action.sa_handler = on_broken_output;
  ::sigaction(SIGPIPE, &action, nullptr);  // also for what is written at the end
}

AgentSignals::~AgentSignals() {
  before_[0].sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < std::size(kEndings); ++i) ::sigaction(kEndings[i], &before_[i], nullptr);
  ::close(wake_up[0]);
  ::close(wake_up[1]);
}

bool AgentSignals::was_interrupted() const { return is_untold.exchange(false); }

int AgentSignals::descriptor() const { return wake_up[0]; }

void AgentSignals::clear() const {
  is_untold = false;
  char bytes[16];
  while (!end_is_wanted && ::read(wake_up[0], bytes, sizeof bytes) > 0) continue;
}

}  // namespace parlance::cli
