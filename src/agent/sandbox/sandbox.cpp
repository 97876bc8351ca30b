// Chooses a kind of sandbox, starts programs in it, and ends them. Begin reading at Sandbox::open.
#include "agent/sandbox/sandbox.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include "agent/sandbox/bubblewrap.h"
#include "agent/sandbox/places.h"
#include "agent/sandbox/process_tree.h"
#include "agent/sandbox/self_test.h"
#include "agent/sandbox/supervisor.h"

namespace parlance::agent {

namespace {

constexpr int kMostWait = 10000;  // milliseconds for processes to end

/// Processes and threads of this user, which RLIMIT_NPROC counts where there is no namespace of users.
std::uint64_t threads_of_user() {
  std::uint64_t count = 0;
  for (const ProcessFacts& facts : processes_below(0)) {
    struct stat owner {};
    const std::string path = "/proc/" + std::to_string(facts.pid);
    if (stat(path.c_str(), &owner) == 0 && owner.st_uid == geteuid()) count += facts.threads;
  }
  return count;
}

/// Since Linux 5.14 RLIMIT_NPROC is counted in each namespace of users by itself.
bool counts_by_namespace() {
  utsname facts{};
  int major = 0, minor = 0;
  if (uname(&facts) != 0 || std::sscanf(facts.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 14);
}

int open_process(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

void wait_for(const Descriptor& process) {
  pollfd watched{process.get(), POLLIN, 0};
  while (process && poll(&watched, 1, kMostWait) < 0 && errno == EINTR) continue;
}

}  // namespace

SandboxedProcess::SandboxedProcess(Started started, const SandboxLimits& limits)
    : started_(std::move(started)), end_(open_process(started_.root)) {
  watchdog_ = std::make_unique<Watchdog>(started_.root, limits, [this] { begin_kill(); });
}

SandboxedProcess::~SandboxedProcess() { kill(); }

void SandboxedProcess::begin_kill() {
  // The supervisor ends all when there is something in its pipe. Bubblewrap's processes end with bubblewrap.
  if (!started_.lifeline) {
    ::kill(started_.root, SIGKILL);
  } else if (::write(started_.lifeline.get(), "", 1) < 0) {
    kill_below(started_.root);
  }
}

std::optional<int> SandboxedProcess::status() {
  siginfo_t facts{};
  if (!status_ && waitid(P_PID, static_cast<id_t>(started_.root), &facts, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      facts.si_pid == started_.root) {
    status_ = facts.si_code == CLD_EXITED ? facts.si_status : 128 + facts.si_status;
  }
  return status_;
}

std::vector<std::string> SandboxedProcess::take_notes() {
  return watchdog_ ? watchdog_->take_notes() : std::exchange(last_notes_, {});
}

void SandboxedProcess::kill() {
  if (!watchdog_) return;
  // The first process of bubblewrap's PID namespace has ended when all the others have.
  std::vector<Descriptor> ends;
  if (!started_.lifeline) {
    for (const ProcessFacts& facts : processes_below(started_.root)) {
      if (facts.parent == started_.root) ends.emplace_back(open_process(facts.pid));
    }
  }
  begin_kill();
  wait_for(end_);
  for (const Descriptor& each : ends) wait_for(each);
  if (!status()) status_ = 128 + SIGKILL;
  // Only now may its number become another process's.
  last_notes_ = watchdog_->take_notes();
  watchdog_.reset();
  waitpid(started_.root, nullptr, WNOHANG);
}

Result<Sandbox> Sandbox::open_checked(const SandboxPolicy& policy, SandboxKind kind) {
  Result<SessionFolder> folder = SessionFolder::open();
  if (!folder) return folder.error();
  Sandbox sandbox(kind, policy, std::make_shared<SessionFolder>(std::move(*folder)));
  if (kind == SandboxKind::none) return sandbox;
  if (Result<void> holds = self_test(sandbox); !holds) return holds.error();
  return sandbox;
}

Result<Sandbox> Sandbox::open(const SandboxPolicy& given, SandboxKind kind) {
  Result<SandboxPolicy> policy = checked(given);
  if (!policy) return policy.error();
  return open_checked(*policy, kind);
}

Result<Sandbox> Sandbox::open(const SandboxPolicy& given) {
  Result<SandboxPolicy> policy = checked(given);
  if (!policy) return policy.error();
  Result<Sandbox> best = open_checked(*policy, SandboxKind::bubblewrap);
  if (best) return best;
  const std::string reason = best.error().message() + "; " + best.error().hint();
  Result<Sandbox> second = open_checked(*policy, SandboxKind::landlock);
  if (second) {
    second->reason_ = reason;
    return second;
  }
  return Error(ErrorCode::usage, "no sandbox works here. Bubblewrap: " + reason +
                                     ". Landlock: " + second.error().message() + "; " + second.error().hint())
      .hint("--no-sandbox lets the model change whatever you can change: only in a container or a virtual machine");
}

std::string Sandbox::control_inside() const {
  return kind_ == SandboxKind::bubblewrap ? kControlInside : folder_->control();
}

std::string Sandbox::temporary_inside() const {
  return kind_ == SandboxKind::bubblewrap ? "/tmp" : folder_->temporary();
}

std::vector<std::string> Sandbox::environment() const {
  return environment_of(policy_, temporary_inside() + "/home", temporary_inside());
}

std::uint64_t Sandbox::process_limit() const {
  // The watchdog says what happened, so it shall be the first; this is for what is faster.
  const std::uint64_t most = policy_.limits.processes + policy_.limits.processes / 4 + 16;
  const bool own = kind_ == SandboxKind::bubblewrap && counts_by_namespace();
  return own ? most : most + threads_of_user();
}

Result<std::unique_ptr<SandboxedProcess>> Sandbox::start(const Launch& launch) const {
  Result<Started> started = kind_ == SandboxKind::bubblewrap ? start_in_bubblewrap(policy_, *folder_, launch)
                            : kind_ == SandboxKind::landlock ? start_in_landlock(policy_, *folder_, launch)
                                                             : start_unconfined(policy_, launch);
  if (!started) return started.error();
  return std::make_unique<SandboxedProcess>(std::move(*started), policy_.limits);
}

}  // namespace parlance::agent
