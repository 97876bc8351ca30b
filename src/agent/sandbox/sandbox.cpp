// Chooses a kind of sandbox, starts programs in it, and ends them. Begin reading at Sandbox::open.
#include "agent/sandbox/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "agent/sandbox/bubblewrap.h"
#include "agent/sandbox/places.h"
#include "agent/sandbox/process_tree.h"
#include "agent/sandbox/self_test.h"
#include "agent/sandbox/supervisor.h"

namespace parlance::agent {

namespace {

constexpr int kMostWait = 10000;  // milliseconds for processes to end

/// A bound for what is faster than the watchdog.
std::uint64_t with_room(std::uint64_t limit) { return limit + limit / 4 + 16; }

/// Processes and threads of this user, which RLIMIT_NPROC counts where there is no namespace of users.
std::uint64_t threads_of_user() {
  std::uint64_t count = 0;
  for (const ProcessFacts& facts : all_processes()) {
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

/// Commands must not reach the folder of the session through theirs.
Result<void> check_apart(const SandboxPolicy& policy, const std::string& folder) {
  for (const std::string& place : shown_paths(policy)) {
    if (!is_within(folder, place)) continue;
    return Error(ErrorCode::usage, place + ": this holds the agent's temporary files")
        .hint("choose a folder in it, or set TMPDIR to one elsewhere");
  }
  return {};
}

void wait_for(const Descriptor& process) {
  pollfd watched{process.get(), POLLIN, 0};
  while (process && poll(&watched, 1, kMostWait) < 0 && errno == EINTR) continue;
}

/// Where a child is the one that runs out of them, it can say nothing.
Result<void> check_descriptors() {
  constexpr std::size_t kLeast = 24;
  std::vector<Descriptor> free;
  free.reserve(kLeast);
  while (free.size() < kLeast) {
    free.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (free.back()) continue;
    return Error(ErrorCode::usage, "the agent cannot open " + std::to_string(kLeast) +
                                       " files at once, as it has to: " + std::strerror(errno))
        .hint("ulimit -n 256");
  }
  return {};
}

/// What is needed whatever the kind.
Result<SandboxPolicy> checked_all(const SandboxPolicy& given) {
  if (Result<void> enough = check_descriptors(); !enough) return enough.error();
  return checked(given);
}

}  // namespace

SandboxedProcess::SandboxedProcess(Started started, ControlGroup group, const SandboxLimits& limits)
    : started_(std::move(started)), group_(std::move(group)), end_(open_process(started_.root)) {
  if (started_.first > 0) first_ = Descriptor(open_process(started_.first));
  try {
    watchdog_ = std::make_unique<Watchdog>(started_.root, limits, [this] { begin_kill(); });
  } catch (...) {  // no thread
    begin_kill();
    wait_for(end_);
    waitpid(started_.root, nullptr, WNOHANG);
    throw;
  }
}

SandboxedProcess::~SandboxedProcess() { kill(); }

void SandboxedProcess::begin_kill() {
  if (started_.lifeline) {  // the supervisor ends all when its lifeline has something for it
    if (send(started_.lifeline.get(), "", 1, MSG_NOSIGNAL) < 0) kill_below(started_.root);
    return;
  }
  // The first process of the PID namespace takes the others with it, and bubblewrap itself then ends.
  const long done = first_ ? syscall(SYS_pidfd_send_signal, first_.get(), SIGKILL, nullptr, 0) : -1;
  // It does so once it runs, for which it may have to wait among a thousand: nobody may fork until then.
  return done == 0 ? kill_below(started_.root) : kill_root_last();
}

/// Without the supervisor nobody would end the others; and a child that waits for bubblewrap's word would wait for
/// ever.
void SandboxedProcess::kill_root_last() {
  ::kill(started_.root, SIGSTOP);
  kill_below(started_.root);
  ::kill(started_.root, SIGKILL);
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
  std::vector<std::string> notes = watchdog_ ? watchdog_->take_notes() : std::exchange(last_notes_, {});
  const std::uint64_t ended = group_.ended_for_memory();
  if (ended > ended_for_memory_) {
    notes.push_back("The kernel ended " + std::to_string(ended - ended_for_memory_) +
                    " processes: all together took more memory than the limit.");
  }
  ended_for_memory_ = ended;
  return notes;
}

void SandboxedProcess::kill() {
  if (!watchdog_) return;
  begin_kill();
  wait_for(end_);
  if (!status()) kill_root_last();
  wait_for(end_);
  if (!status()) status_ = 128 + SIGKILL;
  // Only now may its number become another process's.
  last_notes_ = watchdog_->take_notes();
  watchdog_.reset();
  waitpid(started_.root, nullptr, WNOHANG);
}

/// Whoever runs commands runs them by bash, and so does the trial.
Result<void> check_bash() {
  if (access("/bin/bash", X_OK) == 0) return {};
  return Error(ErrorCode::usage, "there is no /bin/bash, which runs the commands").hint("apt install bash");
}

Result<Sandbox> Sandbox::open_checked(const SandboxPolicy& policy, SandboxKind kind) {
  if (Result<void> there = check_bash(); !there) return there.error();
  Result<SessionFolder> folder = SessionFolder::open();
  if (!folder) return folder.error();
  if (Result<void> apart = check_apart(policy, folder->path()); !apart) return apart.error();
  Sandbox sandbox(kind, policy, std::make_shared<SessionFolder>(std::move(*folder)));
  if (kind == SandboxKind::none) return sandbox;
  if (kind == SandboxKind::bubblewrap) {
    Result<std::string> program = find_bubblewrap(policy);
    if (!program) return program.error();
    sandbox.bubblewrap_ = std::move(*program);
    if (Result<void> ready = prepare_bubblewrap(policy, *sandbox.folder_); !ready) return ready.error();
  }
  if (Result<void> holds = self_test(sandbox); !holds) return holds.error();
  return sandbox;
}

Result<Sandbox> Sandbox::open(const SandboxPolicy& given, SandboxKind kind) {
  Result<SandboxPolicy> policy = checked_all(given);
  if (!policy) return policy.error();
  return open_checked(*policy, kind);
}

Result<Sandbox> Sandbox::open(const SandboxPolicy& given) {
  Result<SandboxPolicy> policy = checked_all(given);
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

Result<std::string> Sandbox::home_of(const std::string& name) const {
  std::string path = folder_->homes() + "/" + name;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error(path, errno);
  return path;
}

std::string Sandbox::home_inside(const std::string& home) const {
  return kind_ == SandboxKind::bubblewrap ? kHomeInside : home;
}

std::uint64_t Sandbox::process_limit() const {
  const std::uint64_t most = with_room(policy_.limits.processes);
  const bool own = kind_ == SandboxKind::bubblewrap && counts_by_namespace();
  return own ? most : most + threads_of_user();
}

Result<std::unique_ptr<SandboxedProcess>> Sandbox::start(const Launch& given) const {
  // The watchdog says what happened, so it shall be the first.
  ControlGroup group;
  if (policy_.control_groups) {
    group = ControlGroup::open(with_room(policy_.limits.processes), with_room(policy_.limits.memory));
  }
  Launch launch = given;
  launch.groups = group.members();
  launch.memory_is_counted = group.limits_memory();
  Result<Started> started = kind_ == SandboxKind::bubblewrap
                                ? start_in_bubblewrap(bubblewrap_, policy_, *folder_, launch)
                            : kind_ == SandboxKind::landlock ? start_in_landlock(policy_, *folder_, launch)
                                                             : start_unconfined(policy_, launch);
  if (!started) return started.error();
  return std::make_unique<SandboxedProcess>(std::move(*started), std::move(group), policy_.limits);
}

}  // namespace parlance::agent
