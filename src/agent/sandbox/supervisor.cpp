// A fork of ours that stays one: it never becomes another program. Begin reading at start_in_landlock.
#include "agent/sandbox/supervisor.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "agent/sandbox/landlock.h"
#include "agent/sandbox/metadata_broker.h"
#include "agent/sandbox/process_tree.h"
#include "agent/sandbox/seccomp_filter.h"

namespace parlance::agent {

namespace {

constexpr std::size_t kMostCapabilities = 64;

/// All that a sandbox needs, made before the fork.
struct Plan {
  const Launch& launch;
  const SandboxPolicy& policy;
  const TextList& command;
  const TextList& environment;
  std::vector<std::string> writable;
  std::vector<sock_filter> asking{};    ///< the filter that asks the supervisor
  std::vector<sock_filter> refusing{};  ///< where the kernel cannot ask it
  int rules = -1;
  int lifeline = -1;  ///< one of a pair of sockets; the agent holds the other
  int channel[2]{};   ///< by which the command hands the filter's descriptor to its supervisor
};

/// A command as root has its files, but none of its powers. So has its supervisor: what it does for commands is refused
/// wherever root would need a power for it, such as with files of others.
bool drop_capabilities() {
  for (std::size_t each = 0; each < kMostCapabilities; ++each) prctl(PR_CAPBSET_DROP, each, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct {
    std::uint32_t version;
    int process;
  } header{0x20080522, 0};
  struct {
    std::uint32_t effective, permitted, inheritable;
  } none[2]{};
  return syscall(SYS_capset, &header, &none) == 0;
}

void send_descriptor(int channel, int sent) {
  char nothing = 0;
  iovec part{&nothing, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (sent >= 0) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &sent, sizeof sent);
  }
  sendmsg(channel, &message, 0);
}

/// -1: none was sent.
int receive_descriptor(int channel) {
  char nothing = 0;
  iovec part{&nothing, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) <= 0) return -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  int received = -1;
  if (header && header->cmsg_type == SCM_RIGHTS) std::memcpy(&received, CMSG_DATA(header), sizeof received);
  return received;
}

/// -1: the kernel has no such filter.
int set_filter(std::vector<sock_filter>& instructions, unsigned flags) {
  name_process(instructions, getppid());
  const sock_fprog program{static_cast<unsigned short>(instructions.size()), instructions.data()};
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

/// The filter; its descriptor goes to the supervisor. Where the kernel cannot ask it, changes of modes are refused.
bool filter_calls(Plan& plan, int channel) {
  const int listener = set_filter(plan.asking, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  send_descriptor(channel, listener);
  if (listener < 0) return set_filter(plan.refusing, 0) == 0;
  close(listener);
  return true;
}

/// In the command's process, until it becomes the command.
[[noreturn]] void become_command(Plan& plan) {
  constexpr int kRules = 3, kChannel = 4;
  const bool confined = plan.rules >= 0;
  const bool entered =
      confined ? enter_session(plan.launch, {plan.rules, plan.channel[1]}) : enter_session(plan.launch, {});
  if (!entered || chdir(plan.launch.folder.c_str()) != 0) _exit(127);
  limit_process(plan.policy.limits, plan.launch);
  if (confined) {
    if (!drop_capabilities() && geteuid() == 0) _exit(127);
    if (!restrict_by_landlock(kRules) || !filter_calls(plan, kChannel)) _exit(127);
    close(kRules);
    close(kChannel);
  }
  execve(plan.command.get()[0], plan.command.get(), plan.environment.get());
  _exit(127);
}

/// Takes in what has ended. The command's status once it has, as a shell gives it; else -1.
int reap(pid_t command) {
  int found = -1, status = 0;
  for (pid_t ended = waitpid(-1, &status, WNOHANG); ended > 0; ended = waitpid(-1, &status, WNOHANG)) {
    if (ended == command) found = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return found;
}

[[noreturn]] void end_all(int status) {
  // Who loses its parent while we look is not below us for a moment, so we look until we have no children.
  while (true) {
    kill_below(getpid());
    pid_t ended = 1;
    while (ended > 0) ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) _exit(status);
    usleep(2000);
  }
}

[[noreturn]] void watch(const Plan& plan, pid_t command, int filter, int signals) {
  pollfd watched[] = {{plan.lifeline, POLLIN, 0}, {signals, POLLIN, 0}, {filter, POLLIN, 0}};
  while (true) {
    if (poll(watched, 3, -1) < 0 && errno != EINTR) end_all(127);
    if (watched[0].revents != 0) end_all(128 + SIGKILL);
    if ((watched[2].revents & POLLIN) != 0) {
      answer_metadata_call(filter, plan.writable);
    } else if (watched[2].revents != 0) {
      watched[2].fd = -1;  // no process has the filter any more
    }
    if (watched[1].revents != 0) {
      signalfd_siginfo ignored{};
      if (read(signals, &ignored, sizeof ignored) < 0) continue;
      if (const int status = reap(command); status >= 0) end_all(status);
    }
  }
}

[[noreturn]] void supervise(Plan& plan) {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_NAME, "sandbox", 0, 0, 0);
  setsid();
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, plan.channel) != 0) _exit(127);
  const pid_t command = fork();
  if (command == 0) become_command(plan);
  if (command < 0) _exit(127);
  close(plan.channel[1]);
  const int filter = receive_descriptor(plan.channel[0]);
  const int signals = signalfd(-1, &child, SFD_CLOEXEC);
  // None of the agent's files stay open here: a pipe that we held would never end for who reads it.
  constexpr int kFirst = 3;
  const int kept[] = {plan.lifeline, signals, filter};
  if (!keep_only(kept, 3, kFirst)) end_all(127);
  plan.lifeline = kFirst;
  prefer_this_thread();
  if (plan.rules >= 0 && !drop_capabilities() && geteuid() == 0) end_all(127);
  watch(plan, command, filter < 0 ? -1 : kFirst + 2, kFirst + 1);
}

/// The filters, but for the number of the supervisor, which is protected as the agent is, whoever leads its group.
void make_filters(Plan& plan) {
  SeccompChoice choice;
  choice.kind = SandboxKind::landlock;
  choice.network = plan.policy.network;
  choice.landlock_abi = landlock_abi();
  choice.unmapped_memory = plan.launch.memory_is_counted;
  choice.protected_processes = {getpid(), getpgrp(), kUnknownProcess};
  plan.refusing = seccomp_program(choice);
  choice.broker = true;
  plan.asking = seccomp_program(choice);
}

Result<Started> fork_supervisor(Plan plan) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return system_error("a pair of sockets", errno);
  const Descriptor read_end(ends[0]);
  Started started;
  started.lifeline = Descriptor(ends[1]);
  plan.lifeline = read_end.get();
  started.root = fork();
  if (started.root < 0) return system_error("fork", errno);
  if (started.root == 0) {
    close(started.lifeline.get());
    supervise(plan);
  }
  return started;
}

}  // namespace

Result<Started> start_in_landlock(const SandboxPolicy& policy, const SessionFolder& folder, const Launch& launch) {
  const char* terminal = launch.terminal ? ttyname(launch.in) : nullptr;
  std::vector<std::string> writable = changeable(policy);
  writable.insert(writable.end(), {folder.temporary(), folder.state()});
  if (!launch.home.empty()) writable.push_back(launch.home);
  Result<Descriptor> rules = landlock_rules(policy, folder, terminal ? terminal : "", writable);
  if (!rules) return rules.error();
  const TextList command(launch.command), environment(launch.environment);
  Plan plan{launch, policy, command, environment, std::move(writable)};
  plan.rules = rules->get();
  make_filters(plan);
  return fork_supervisor(std::move(plan));
}

Result<Started> start_unconfined(const SandboxPolicy& policy, const Launch& launch) {
  const TextList command(launch.command), environment(launch.environment);
  return fork_supervisor({launch, policy, command, environment, {}});
}

}  // namespace parlance::agent
