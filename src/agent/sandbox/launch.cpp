// Runs between fork() and execve(): calls of the system alone, no memory.
#include "agent/sandbox/launch.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace parlance::agent {

namespace {

constexpr int kMostKept = 16;

void close_from(int first) {
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  for (int each = first; each < 4096; ++each) close(each);
}

void set_limit(int what, std::uint64_t most) {
  rlimit now{};
  getrlimit(static_cast<__rlimit_resource_t>(what), &now);
  const rlim_t value = now.rlim_max < most ? now.rlim_max : most;
  const rlimit limit{value, value};
  setrlimit(static_cast<__rlimit_resource_t>(what), &limit);
}

void forget_signals() {
  for (int each = 1; each < NSIG; ++each) signal(each, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

bool keep_only(const int* given, int count, int first) {
  // First out of the way of the numbers that they get, as low as that goes: a user may allow few descriptors.
  int copies[kMostKept];
  if (count > kMostKept) return false;
  for (int each = 0; each < count; ++each) {
    copies[each] = given[each] < 0 ? -1 : fcntl(given[each], F_DUPFD, first + count);
    if (copies[each] < 0 && given[each] >= 0) return false;
  }
  for (int each = 0; each < count; ++each) {
    if (copies[each] < 0)
      close(first + each);
    else if (dup2(copies[each], first + each) < 0)
      return false;
  }
  for (int each = 0; each < first; ++each) close(each);
  close_from(first + count);
  return true;
}

bool enter_session(const Launch& launch, std::initializer_list<int> kept) {
  forget_signals();
  int all[kMostKept];
  int count = 0;
  for (const int given : {launch.in, launch.out, launch.err}) all[count++] = given;
  for (const int given : kept)
    if (count < kMostKept) all[count++] = given;
  if (!keep_only(all, count, 0)) return false;
  if (setsid() < 0) return false;
  return !launch.terminal || ioctl(0, TIOCSCTTY, 0) == 0;
}

void prefer_this_thread() {
  sched_param first{};
  first.sched_priority = 1;
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == 0) return;
  if (setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), -20) != 0) return;
}

void limit_process(const SandboxLimits& limits, const Launch& launch) {
  for (const std::string& group : launch.groups) {
    const int file = open(group.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "0", 1) != 1) _exit(127);
    close(file);
  }
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, limits.file_size);
  set_limit(RLIMIT_NOFILE, limits.open_files);
  set_limit(RLIMIT_CPU, limits.processor_seconds);
  // Whatever they do, we and the machine's other users come first.
  if (setpriority(PRIO_PROCESS, 0, 10) != 0) return;
}

}  // namespace parlance::agent
