// Tables of refused calls, and what makes a program of them. Begin reading at seccomp_program.
//
// The program is a list of tests one after the other, each of which ends in an answer or goes on, so that no jump is
// long.
#include "agent/sandbox/seccomp_filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "agent/sandbox/metadata_calls.h"

namespace parlance::agent {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kProcessor = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kProcessor = AUDIT_ARCH_AARCH64;
#else
#error "the sandbox knows the system calls of x86-64 and aarch64"
#endif

// Calls from 424 on have the same number on every processor, and older headers lack some.
constexpr int kOpenTree = 428, kMoveMount = 429, kFsopen = 430, kFsconfig = 431, kFsmount = 432, kFspick = 433,
              kIoUringSetup = 425, kIoUringEnter = 426, kIoUringRegister = 427, kClone3 = 435, kPidfdGetfd = 438,
              kProcessMadvise = 440, kMountSetattr = 442, kOpenat2 = 437, kSetxattrat = 463, kRemovexattrat = 466,
              kOpenTreeAttr = 467, kFileSetattr = 469, kMemfdSecret = 447, kPidfdSendSignal = 424, kQuotactlFd = 443;

/// Refused in every sandbox: other processes' memory, mounts and namespaces, kernel facilities with a large surface,
/// the clock and the machine itself.
constexpr int kRefused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    kPidfdGetfd,
    kProcessMadvise,
    SYS_move_pages,
    SYS_migrate_pages,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    kOpenTree,
    kMoveMount,
    kFsopen,
    kFsconfig,
    kFsmount,
    kFspick,
    kMountSetattr,
    kOpenTreeAttr,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    kIoUringSetup,
    kIoUringEnter,
    kIoUringRegister,
    SYS_fanotify_init,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    kQuotactlFd,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
#endif
};

/// Refused besides where Landlock stands alone, which does not cover them.
constexpr int kRefusedWithLandlock[] = {
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget,     SYS_msgsnd,  SYS_msgrcv,    SYS_msgctl,
    SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop, SYS_mq_open, SYS_mq_unlink,
};

/// The same, as if no file system had such a thing: programs go on without.
constexpr int kUnsupportedWithLandlock[] = {
    SYS_setxattr,     SYS_lsetxattr, SYS_fsetxattr,  SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, kSetxattrat,   kRemovexattrat, kFileSetattr,
};

/// Memory that lives without a process that has mapped it, so that the watchdog cannot see whose it is. As if the
/// kernel had none: programs go on without.
constexpr int kUncountedMemory[] = {SYS_memfd_create, kMemfdSecret};

// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME
constexpr std::uint32_t kNamespaceFlags = 0x7e020080U;
constexpr std::uint32_t kSetFlags = 0x40086602U, kSetAttributes = 0x401c5820U;  // FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
constexpr std::uint32_t kLinuxConsole = 0x541cU;                                // TIOCLINUX

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t failing(int error) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error); }

class FilterProgram {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), 0, 0); }
  void load_number() { load(offsetof(seccomp_data, nr)); }
  /// The lower half of an argument; both processors keep it first.
  void load_argument(std::size_t index) { load(offsetof(seccomp_data, args) + 8 * index); }
  void load_upper_half(std::size_t index) { load(offsetof(seccomp_data, args) + 8 * index + 4); }
  void answer(std::uint32_t what) { add(BPF_RET | BPF_K, what, 0, 0); }
  void if_equal(std::uint32_t value, std::uint32_t what) { test(BPF_JEQ, value, what); }
  void unless_equal(std::uint32_t value, std::uint32_t what) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    answer(what);
  }
  void if_any_bit(std::uint32_t bits, std::uint32_t what) { test(BPF_JSET, bits, what); }
  void if_at_least(std::uint32_t value, std::uint32_t what) { test(BPF_JGE, value, what); }
  void keep_bits(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits, 0, 0); }
  /// What `body` adds is for this call alone.
  template <typename Body>
  void for_call(int number, const Body& body) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 0);
    const std::size_t at = code_.size() - 1;
    body();
    load_number();
    code_[at].jf = static_cast<std::uint8_t>(code_.size() - at - 1);
  }
  /// What `body` adds is for a loaded value that has one of these bits.
  template <typename Body>
  void where_any_bit(std::uint32_t bits, const Body& body) {
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 0);
    const std::size_t at = code_.size() - 1;
    body();
    code_[at].jf = static_cast<std::uint8_t>(code_.size() - at - 1);
  }
  void refuse(int number, std::uint32_t what = failing(EPERM)) { if_equal(static_cast<std::uint32_t>(number), what); }
  std::vector<sock_filter> take() { return std::move(code_); }

 private:
  void test(std::uint16_t kind, std::uint32_t value, std::uint32_t what) {
    add(static_cast<std::uint16_t>(BPF_JMP | kind | BPF_K), value, 0, 1);
    answer(what);
  }
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    code_.push_back({code, yes, no, value});
  }

  std::vector<sock_filter> code_;
};

/// A file with one of these bits, left in the workspace, would give the rights of its owner or its group to who runs
/// it. A folder may have the second one; where modes are not the supervisor's to change, nobody can tell it from a
/// file.
void refuse_setuid(FilterProgram& program, bool brokered) {
  constexpr std::uint32_t kSetuid = 04000, kSetgid = 02000, kCreates = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
  const auto refuse = [&](int number, std::size_t mode, std::uint32_t bits) {
    program.for_call(number, [&] {
      program.load_argument(mode);
      program.if_any_bit(bits, failing(EPERM));
    });
  };
  const auto refuse_new = [&](int number, std::size_t flags, std::size_t mode) {
    program.for_call(number, [&] {
      program.load_argument(flags);
      program.where_any_bit(kCreates, [&] {
        program.load_argument(mode);
        program.if_any_bit(kSetuid | kSetgid, failing(EPERM));
      });
    });
  };
  const std::uint32_t of_change = brokered ? kSetuid : kSetuid | kSetgid;
  refuse(SYS_fchmod, 1, of_change);
  refuse(SYS_fchmodat, 2, of_change);
  refuse(kFchmodat2, 2, of_change);
  refuse(SYS_mknodat, 2, kSetuid | kSetgid);
  refuse_new(SYS_openat, 2, 3);
#if defined(__x86_64__)
  refuse(SYS_chmod, 1, of_change);
  refuse(SYS_creat, 1, kSetuid | kSetgid);
  refuse(SYS_mknod, 1, kSetuid | kSetgid);
  refuse_new(SYS_open, 1, 2);
#endif
  program.refuse(kOpenat2, failing(ENOSYS));  // its mode lies in memory; programs take openat instead
}

void refuse_uncounted(FilterProgram& program) {
  for (const int number : kUncountedMemory) program.refuse(number, failing(ENOSYS));
  // There are 4096 segments at most. Databases have a small one, as a lock.
  constexpr std::uint32_t kLargestSegment = 64 << 10;
  program.for_call(SYS_shmget, [&] {
    program.load_upper_half(1);
    program.if_at_least(1, failing(ENOMEM));
    program.load_argument(1);
    program.if_at_least(kLargestSegment + 1, failing(ENOMEM));
  });
}

void refuse_arguments(FilterProgram& program) {
  program.for_call(SYS_clone, [&] {
    program.load_argument(0);
    program.if_any_bit(kNamespaceFlags, failing(EPERM));
  });
  program.refuse(kClone3, failing(ENOSYS));  // its flags lie in memory; C libraries take clone instead
  program.for_call(SYS_ioctl, [&] {
    program.load_argument(1);
    for (const std::uint32_t request : {static_cast<std::uint32_t>(TIOCSTI), kLinuxConsole}) {
      program.if_equal(request, failing(EPERM));
    }
  });
}

/// Sockets of these families alone: others (packets, virtual machines, cryptography) no namespace holds.
void allow_families(FilterProgram& program, const std::vector<int>& families) {
  program.for_call(SYS_socket, [&] {
    program.load_argument(0);
    for (const int family : families) program.if_equal(static_cast<std::uint32_t>(family), kAllow);
    program.answer(failing(EPERM));
  });
}

/// Signals whose receiver cannot be told from the call's arguments: by a descriptor, by one of a process's threads, or
/// by what happens to a file. C libraries have tgkill(), which names the process, too.
void refuse_hidden_signals(FilterProgram& program) {
  constexpr std::uint32_t kSetOwner = F_SETOWN, kSetOwnerOf = 15;              // F_SETOWN_EX
  constexpr std::uint32_t kSetSocketOwner = 0x8901, kSetSocketGroup = 0x8902;  // FIOSETOWN, SIOCSPGRP
  program.refuse(kPidfdSendSignal);
  program.refuse(SYS_tkill);
  program.for_call(SYS_fcntl, [&] {
    program.load_argument(1);
    for (const std::uint32_t request : {kSetOwner, kSetOwnerOf}) program.if_equal(request, failing(EPERM));
  });
  program.for_call(SYS_ioctl, [&] {
    program.load_argument(1);
    for (const std::uint32_t request : {kSetSocketOwner, kSetSocketGroup}) program.if_equal(request, failing(EPERM));
  });
}

/// Landlock does not ask whom a local socket connects to, and one of datagrams could send to any although it is one of
/// a pair; SOCK_RAW is such a one to the kernel. These two kinds send to their peer alone.
void allow_connected_pairs(FilterProgram& program) {
  program.for_call(SYS_socketpair, [&] {
    constexpr std::uint32_t kKind = 0xf;  // the other bits are flags
    program.load_argument(0);
    program.unless_equal(AF_UNIX, failing(EPERM));
    program.load_argument(1);
    program.keep_bits(kKind);
    for (const int kind : {SOCK_STREAM, SOCK_SEQPACKET}) program.if_equal(static_cast<std::uint32_t>(kind), kAllow);
    program.answer(failing(EPERM));
  });
}

/// What would let the agent or its supervisor wait for ever among a thousand processes that want to run: the supervisor
/// is who ends these.
void refuse_slowing(FilterProgram& program, const std::vector<int>& processes) {
  const auto refuse_each = [&](std::size_t argument) {
    program.load_argument(argument);
    for (const int process : processes) program.if_equal(static_cast<std::uint32_t>(process), failing(EPERM));
  };
  for (const int number : {static_cast<int>(SYS_sched_setscheduler), static_cast<int>(SYS_sched_setparam),
                           static_cast<int>(SYS_sched_setattr), static_cast<int>(SYS_sched_setaffinity)}) {
    program.for_call(number, [&] { refuse_each(0); });
  }
  constexpr std::uint32_t kUser = PRIO_USER, kUserOfFiles = 3;  // IOPRIO_WHO_USER
  for (const auto& [number, all] : {std::pair{static_cast<int>(SYS_setpriority), kUser},
                                    std::pair{static_cast<int>(SYS_ioprio_set), kUserOfFiles}}) {
    program.for_call(number, [&] {
      program.load_argument(0);
      program.if_equal(all, failing(EPERM));
      refuse_each(1);  // also as a group's number
    });
  }
}

void refuse_for_landlock(FilterProgram& program, const SeccompChoice& choice) {
  for (const int number : kRefusedWithLandlock) program.refuse(number);
  for (const int number : kUnsupportedWithLandlock) program.refuse(number, failing(EOPNOTSUPP));
  for (const MetadataCall& call : kMetadataCalls) {
    program.refuse(call.number, choice.broker ? SECCOMP_RET_USER_NOTIF : failing(EPERM));
  }
  if (choice.landlock_abi < 3) program.refuse(SYS_truncate);
  program.for_call(SYS_ioctl, [&] {
    program.load_argument(1);
    for (const std::uint32_t request : {kSetFlags, kSetAttributes}) program.if_equal(request, failing(EPERM));
  });
  allow_connected_pairs(program);
  program.for_call(SYS_prlimit64, [&] {  // 0: the process itself
    program.load_argument(0);
    program.if_at_least(1, failing(EPERM));
  });
  refuse_slowing(program, choice.protected_processes);
  if (choice.landlock_abi < 6) refuse_hidden_signals(program);
  for (const int number : {static_cast<int>(SYS_kill), static_cast<int>(SYS_tkill), static_cast<int>(SYS_tgkill),
                           static_cast<int>(SYS_rt_sigqueueinfo), static_cast<int>(SYS_rt_tgsigqueueinfo),
                           static_cast<int>(SYS_pidfd_open)}) {
    program.for_call(number, [&] {
      program.load_argument(0);
      program.if_equal(0xffffffffU, failing(EPERM));  // everybody
      for (const int process : choice.protected_processes) {
        program.if_equal(static_cast<std::uint32_t>(process), failing(EPERM));
        program.if_equal(static_cast<std::uint32_t>(-process), failing(EPERM));  // its group
      }
    });
  }
}

}  // namespace

std::vector<sock_filter> seccomp_program(const SeccompChoice& choice) {
  FilterProgram program;
  program.load(offsetof(seccomp_data, arch));
  program.unless_equal(kProcessor, failing(ENOSYS));  // the tables know the numbers of this processor's own mode alone
  program.load_number();
#if defined(__x86_64__)
  program.if_at_least(0x40000000U, failing(ENOSYS));  // x32
#endif
  for (const int number : kRefused) program.refuse(number);
  refuse_arguments(program);
  if (!choice.unmapped_memory) refuse_uncounted(program);
  const bool landlock = choice.kind == SandboxKind::landlock;
  refuse_setuid(program, landlock && choice.broker);
  if (landlock) {
    refuse_for_landlock(program, choice);
    allow_families(program, choice.network ? std::vector<int>{AF_INET, AF_INET6} : std::vector<int>{});
  } else {
    allow_families(program, {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK});
  }
  program.answer(kAllow);
  return program.take();
}

void name_process(std::vector<sock_filter>& program, int process) {
  for (sock_filter& step : program) {
    if (step.code != (BPF_JMP | BPF_JEQ | BPF_K)) continue;
    if (step.k == static_cast<std::uint32_t>(kUnknownProcess)) step.k = static_cast<std::uint32_t>(process);
    if (step.k == static_cast<std::uint32_t>(-kUnknownProcess)) step.k = static_cast<std::uint32_t>(-process);
  }
}

}  // namespace parlance::agent
