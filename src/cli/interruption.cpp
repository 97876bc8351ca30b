// Signals; see interruption.h. The handler writes to a pipe, which wait_for() waits for beside the input.
#include "cli/interruption.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <iterator>

namespace parlance::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t first_signal = 0;
std::array<int, 2> wake = {-1, -1};
struct sigaction before[std::size(kSignals)];

void restore(int number) {
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    if (kSignals[i] == number) (void)::sigaction(number, &before[i], nullptr);
}

void take_down(int number) {
  const int kept = errno;
  if (first_signal == 0) first_signal = number;
  (void)!::write(wake[1], "", 1);
  restore(number);
  errno = kept;
}

void act(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  (void)::sigaction(number, &action, nullptr);
}

/// A handler and no SIG_IGN, which programs that are started would inherit.
void do_nothing(int) {}

}  // namespace

Interruption::Interruption() {
  first_signal = 0;
  if (::pipe2(wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    const bool is_known = ::sigaction(kSignals[i], nullptr, &before[i]) == 0;
    if (is_known && before[i].sa_handler != SIG_IGN) act(kSignals[i], take_down);
  }
}

Interruption::~Interruption() {
  if (wake[1] < 0) return;
  for (const int number : kSignals) restore(number);
  for (int& end : wake) {
    ::close(end);
    end = -1;
  }
}

int Interruption::signal() const { return first_signal; }

bool Interruption::wait_for(int file) const {
  std::array<pollfd, 2> asked = {pollfd{file, POLLIN, 0}, pollfd{wake[0], POLLIN, 0}};
  while (signal() == 0 && ::poll(asked.data(), asked.size(), -1) < 0 && errno == EINTR) {
  }
  return signal() == 0;
}

void let_large_writes_fail() { act(SIGXFSZ, do_nothing); }
void let_unread_writes_fail() { act(SIGPIPE, do_nothing); }

}  // namespace parlance::cli
