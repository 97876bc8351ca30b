// What the handler of the agent's signals leaves as it was: whoever it interrupts looks at errno next. Begin at main.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "cli/agent/agent_signals.h"

namespace {

int failures = 0;

void check(bool is_right, const char* what) {
  if (is_right) return;
  ++failures;
  std::printf("failed: %s\n", what);
}

}  // namespace

int main() {
  using namespace parlance::cli;
  const AgentSignals signals;
  check(!signals.was_interrupted() && !wants_end(), "nothing came yet");
  raise(SIGINT);
  check(has_interrupt() && signals.was_interrupted() && !has_interrupt(), "one interrupt is told once");
  check(!wants_end(), "one interrupt ends no run");
  signals.clear();
  char byte = 0;
  check(read(signals.descriptor(), &byte, 1) < 0 && errno == EAGAIN, "its pipe is empty");
  raise(SIGINT);
  check(wants_end(), "two at once do");
  errno = ENOTTY;
  for (int count = 0; count < 70'000 && errno == ENOTTY; ++count) raise(SIGINT);  // until its pipe is full, and behind
  check(errno == ENOTTY, "errno is kept");
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
