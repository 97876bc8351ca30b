// Begin reading at check_signals. The filter of system calls as older kernels get it, whose Landlock does not keep
// signals inside: the filter alone protects the agent and its supervisor. A child has the filter, and its parent is
// what is protected.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "agent/sandbox/seccomp_filter.h"

namespace {

using namespace parlance::agent;

int failed = 0;

void expect(bool is_so, const std::string& what) {
  if (!is_so) std::printf("FAILED: %s\n", what.c_str());
  failed += is_so ? 0 : 1;
}

void expect_refused(long done, const std::string& what) { expect(done < 0 && errno == EPERM, what + " is refused"); }

bool set_filter(int abi, pid_t parent) {
  SeccompChoice choice;
  choice.kind = SandboxKind::landlock;
  choice.network = true;
  choice.landlock_abi = abi;
  choice.protected_processes = {parent};
  std::vector<sock_filter> code = seccomp_program(choice);
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

void check_signals(pid_t parent) {
  constexpr int kPidfdSendSignal = 424, kNothing = 0;
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  const int folder = open(("/proc/" + std::to_string(parent)).c_str(), O_RDONLY | O_DIRECTORY);
  expect_refused(kill(parent, kNothing), "kill");
  expect_refused(kill(-1, kNothing), "kill of all");
  expect_refused(syscall(SYS_tkill, parent, kNothing), "tkill");
  expect_refused(syscall(SYS_tgkill, parent, parent, kNothing), "tgkill");
  expect_refused(syscall(SYS_rt_sigqueueinfo, parent, SIGUSR1, &info), "rt_sigqueueinfo");
  expect_refused(syscall(SYS_rt_tgsigqueueinfo, parent, parent, SIGUSR1, &info), "rt_tgsigqueueinfo");
  expect_refused(syscall(kPidfdSendSignal, folder, kNothing, nullptr, 0), "pidfd_send_signal");
  int ends[2];
  expect(pipe(ends) == 0, "a pipe");
  expect_refused(fcntl(ends[0], F_SETOWN, parent), "F_SETOWN");
  const int owner[2] = {1, parent};  // F_OWNER_PID
  expect_refused(syscall(SYS_fcntl, ends[0], 15, owner), "F_SETOWN_EX");
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  int group = parent;
  for (const unsigned long request : {0x8901UL, 0x8902UL})
    expect_refused(ioctl(made, request, &group), "the owner of a socket");
}

/// What programs need.
void check_own_signals() {
  static volatile sig_atomic_t taken = 0;
  std::signal(SIGUSR1, [](int) { taken = taken + 1; });
  expect(raise(SIGUSR1) == 0 && taken == 1, "raise");
  expect(kill(getpid(), SIGUSR1) == 0 && taken == 2, "kill of itself");
  expect(fcntl(0, F_GETFD) >= 0 && fcntl(0, F_SETFD, FD_CLOEXEC) == 0, "fcntl");
}

}  // namespace

int main() {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    expect(set_filter(5, parent), "the filter");
    check_signals(parent);
    check_own_signals();
    std::printf("%d failed\n", failed);
    std::fflush(stdout);
    _exit(failed == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
