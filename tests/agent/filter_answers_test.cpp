// What the filter of system calls answers, by a machine for its instructions: no kernel is asked, so that it is tested
// for any processor that the tests are compiled for, under an emulator as well. Begin reading at main.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "agent/sandbox/seccomp_filter.h"

namespace {

using namespace parlance::agent;

#if defined(__x86_64__)
constexpr std::uint32_t kOwn = AUDIT_ARCH_X86_64, kOf32Bits = AUDIT_ARCH_I386;
#else
constexpr std::uint32_t kOwn = AUDIT_ARCH_AARCH64, kOf32Bits = AUDIT_ARCH_ARM;
#endif
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW, kAsk = SECCOMP_RET_USER_NOTIF, kNever = 0xbad;

constexpr std::uint32_t failing(int error) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error); }

// Numbers that older headers lack, and which are the same on every processor.
#ifdef SYS_clone3
static_assert(SYS_clone3 == 435 && SYS_openat2 == 437 && SYS_pidfd_getfd == 438 && SYS_process_madvise == 440);
#endif
#ifdef SYS_mount_setattr
static_assert(SYS_mount_setattr == 442 && SYS_open_tree == 428 && SYS_move_mount == 429 && SYS_fspick == 433);
static_assert(SYS_io_uring_setup == 425 && SYS_io_uring_register == 427 && SYS_pidfd_send_signal == 424);
#endif
#ifdef SYS_quotactl_fd
static_assert(SYS_quotactl_fd == 443);
#endif
#ifdef SYS_memfd_secret
static_assert(SYS_memfd_secret == 447);
#endif
#ifdef SYS_fchmodat2
static_assert(SYS_fchmodat2 == 452);
#endif

int failed = 0;

/// As the kernel does, of the instructions that the filter has.
std::uint32_t answer(const std::vector<sock_filter>& program, const seccomp_data& call) {
  std::uint32_t loaded = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    bool holds = false;
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&loaded, reinterpret_cast<const char*>(&call) + step.k, sizeof loaded);
        continue;
      case BPF_ALU | BPF_AND | BPF_K: loaded &= step.k; continue;
      case BPF_RET | BPF_K: return step.k;
      case BPF_JMP | BPF_JEQ | BPF_K: holds = loaded == step.k; break;
      case BPF_JMP | BPF_JSET | BPF_K: holds = (loaded & step.k) != 0; break;
      case BPF_JMP | BPF_JGE | BPF_K: holds = loaded >= step.k; break;
      default: return kNever;
    }
    at += holds ? step.jt : step.jf;
  }
  return kNever;
}

struct Filter {
  std::vector<sock_filter> program;
  const char* name;

  void expect(long number, const char* what, std::uint32_t wanted, std::initializer_list<std::uint64_t> given = {},
              std::uint32_t processor = kOwn) const {
    seccomp_data call{};
    call.nr = static_cast<int>(number);
    call.arch = processor;
    std::size_t at = 0;
    for (const std::uint64_t each : given) call.args[at++] = each;
    const std::uint32_t found = answer(program, call);
    if (found != wanted) std::printf("FAILED: %s: %s is answered %x, not %x\n", name, what, found, wanted);
    failed += found == wanted ? 0 : 1;
  }
};

Filter filter_of(SandboxKind kind, const char* name) {
  SeccompChoice choice;
  choice.kind = kind;
  choice.landlock_abi = 6;
  choice.broker = kind == SandboxKind::landlock;
  choice.protected_processes = {77, kUnknownProcess};
  Filter made{seccomp_program(choice), name};
  name_process(made.program, 78);
  return made;
}

#define CALL(name) SYS_##name, #name

void check_refused(const Filter& filter) {
  const std::uint32_t refused = failing(EPERM), missing = failing(ENOSYS);
  filter.expect(CALL(ptrace), refused);
  filter.expect(CALL(process_vm_writev), refused);
  filter.expect(CALL(mount), refused);
  filter.expect(CALL(umount2), refused);
  filter.expect(CALL(unshare), refused);
  filter.expect(CALL(setns), refused);
  filter.expect(CALL(bpf), refused);
  filter.expect(CALL(perf_event_open), refused);
  filter.expect(CALL(init_module), refused);
  filter.expect(CALL(kexec_load), refused);
  filter.expect(CALL(kexec_file_load), refused);
  filter.expect(CALL(reboot), refused);
  filter.expect(443, "quotactl_fd", refused);
  filter.expect(435, "clone3", missing);
  filter.expect(437, "openat2", missing);
  filter.expect(CALL(memfd_create), missing);
  for (const std::uint64_t flag : {CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWUTS, CLONE_NEWIPC})
    filter.expect(SYS_clone, "clone into a namespace", refused, {flag | SIGCHLD});
  filter.expect(SYS_read, "a call of 32 bits", missing, {}, kOf32Bits);
}

/// Files that would give rights to who runs them.
void check_modes(const Filter& filter) {
  constexpr std::uint64_t kSetuid = S_ISUID | 0755, kPlain = 0755, kHere = static_cast<std::uint64_t>(AT_FDCWD);
  const std::uint32_t refused = failing(EPERM);
  filter.expect(SYS_openat, "openat of a new file with setuid", refused, {kHere, 0, O_CREAT | O_WRONLY, kSetuid});
  filter.expect(SYS_openat, "openat of an unnamed file with setuid", refused, {kHere, 0, O_TMPFILE | O_RDWR, kSetuid});
  filter.expect(SYS_openat, "openat of a new file", kAllow, {kHere, 0, O_CREAT | O_WRONLY, kPlain});
  // Without O_CREAT a mode is whatever the register had.
  filter.expect(SYS_openat, "openat of a folder", kAllow, {kHere, 0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, kSetuid});
  filter.expect(SYS_mknodat, "mknodat with setuid", refused, {kHere, 0, S_IFREG | kSetuid});
  filter.expect(SYS_fchmod, "fchmod with setuid", refused, {3, kSetuid});
  filter.expect(SYS_fchmodat, "fchmodat with setuid", refused, {kHere, 0, kSetuid});
  filter.expect(452, "fchmodat2 with setuid", refused, {kHere, 0, kSetuid});
}

/// What glibc starts programs, threads and waits with on the processors that have none of the older calls.
void check_allowed(const Filter& filter) {
  constexpr std::uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS;
  filter.expect(SYS_clone, "fork", kAllow, {SIGCHLD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID});
  filter.expect(SYS_clone, "vfork", kAllow, {SIGCHLD | CLONE_VM | CLONE_VFORK});
  filter.expect(SYS_clone, "a thread", kAllow, {kThread});
  filter.expect(CALL(execve), kAllow);
  filter.expect(CALL(wait4), kAllow);
  filter.expect(CALL(read), kAllow);
  filter.expect(CALL(pselect6), kAllow);
  filter.expect(CALL(ppoll), kAllow);
  filter.expect(CALL(epoll_pwait), kAllow);
  filter.expect(CALL(pipe2), kAllow);
  filter.expect(CALL(dup3), kAllow);
  filter.expect(CALL(mkdirat), kAllow);
  filter.expect(CALL(unlinkat), kAllow);
  filter.expect(CALL(renameat2), kAllow);
  filter.expect(CALL(faccessat), kAllow);
  filter.expect(CALL(getdents64), kAllow);
  filter.expect(CALL(mmap), kAllow);
  filter.expect(CALL(futex), kAllow);
  filter.expect(CALL(rt_sigreturn), kAllow);
}

/// Only what sends to its peer alone.
void check_pairs(const Filter& filter) {
  const std::uint32_t refused = failing(EPERM);
  filter.expect(SYS_socketpair, "a pair of datagram sockets", refused, {AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC});
  filter.expect(SYS_socketpair, "a raw pair, which is one of datagrams", refused, {AF_UNIX, SOCK_RAW});
  filter.expect(SYS_socketpair, "a pair of another family", refused, {AF_INET, SOCK_STREAM});
  filter.expect(SYS_socketpair, "a pair of streams", kAllow, {AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK});
  filter.expect(SYS_socketpair, "a pair of packets", kAllow, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC});
}

/// The agent and its supervisor run whatever others do to have the processor.
void check_slowing(const Filter& filter) {
  const std::uint32_t refused = failing(EPERM);
  for (const std::uint64_t whom : {77, 78}) {
    filter.expect(SYS_sched_setscheduler, "another scheduler", refused, {whom, SCHED_OTHER});
    filter.expect(SYS_sched_setparam, "another parameter", refused, {whom});
    filter.expect(SYS_sched_setattr, "other attributes", refused, {whom});
    filter.expect(SYS_sched_setaffinity, "one processor", refused, {whom, 128});
    filter.expect(SYS_setpriority, "another priority", refused, {PRIO_PROCESS, whom, 19});
    filter.expect(SYS_setpriority, "another priority of its group", refused, {PRIO_PGRP, whom, 19});
    filter.expect(SYS_ioprio_set, "another priority at files", refused, {1, whom});
  }
  filter.expect(SYS_setpriority, "another priority of all of the user's", refused, {PRIO_USER, 0, 19});
  filter.expect(SYS_ioprio_set, "the same at files", refused, {3, 0});
  filter.expect(SYS_sched_setaffinity, "one processor for itself", kAllow, {0, 128});
  filter.expect(SYS_sched_setaffinity, "one processor for a thread", kAllow, {79, 128});
  filter.expect(SYS_setpriority, "its own priority", kAllow, {PRIO_PROCESS, 0, 19});
  filter.expect(SYS_ioprio_set, "its own at files", kAllow, {1, 0});
}

void check_landlock(const Filter& filter) {
  const std::uint32_t refused = failing(EPERM);
  filter.expect(SYS_fchmod, "fchmod", kAsk, {3, 0644});
  filter.expect(CALL(fchmodat), kAsk);
  filter.expect(CALL(fchownat), kAsk);
  filter.expect(CALL(utimensat), kAsk);
#if defined(__x86_64__)
  filter.expect(CALL(utime), kAsk);
  filter.expect(CALL(utimes), kAsk);
  filter.expect(CALL(futimesat), kAsk);
#endif
  filter.expect(CALL(shmget), refused);
  filter.expect(CALL(setxattr), failing(EOPNOTSUPP));
  filter.expect(SYS_kill, "kill of the agent", refused, {77, SIGKILL});
  filter.expect(SYS_kill, "kill of who was named later", refused, {78, SIGKILL});
  filter.expect(SYS_kill, "kill of its group", refused, {static_cast<std::uint32_t>(-78), SIGKILL});
  filter.expect(SYS_kill, "kill of another process", kAllow, {79, SIGKILL});
  filter.expect(SYS_prlimit64, "prlimit of itself", kAllow, {0});
  check_pairs(filter);
  check_slowing(filter);
}

}  // namespace

int main() {
  const Filter bubblewrap = filter_of(SandboxKind::bubblewrap, "bubblewrap");
  const Filter landlock = filter_of(SandboxKind::landlock, "landlock");
  for (const Filter* filter : {&bubblewrap, &landlock}) {
    check_refused(*filter);
    check_modes(*filter);
    check_allowed(*filter);
  }
  check_landlock(landlock);
  std::printf("%d failed\n", failed);
  return failed == 0 ? 0 : 1;
}
