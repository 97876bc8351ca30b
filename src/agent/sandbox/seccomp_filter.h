// The filter of system calls that every process of a sandbox has: a program for the kernel's seccomp.
#pragma once
#include <linux/filter.h>

#include <vector>

#include "agent/sandbox/policy.h"

namespace parlance::agent {

struct SeccompChoice {
  SandboxKind kind = SandboxKind::bubblewrap;
  bool network = false;
  int landlock_abi = 0;  ///< what the kernel's Landlock can do; the filter refuses what it leaves open
  /// Memory that no process has mapped may be had: a control group counts it.
  bool unmapped_memory = false;
  bool broker = false;  ///< calls that change a file's mode, owner or times are asked of the supervisor
  /// Processes, and groups, that nobody may send signals to or slow down (landlock alone; in bubblewrap they do not
  /// exist). A signal to the number of one of a process's threads is not refused.
  std::vector<int> protected_processes{};
};

/// Stands in `protected_processes` for one whose number is not known yet; no process has it.
constexpr int kUnknownProcess = 0x7fffffff;

/// The program, for this build's processor. Calls that it refuses fail with EPERM, and those of another processor's
/// mode (32 bits, x32) with ENOSYS.
std::vector<sock_filter> seccomp_program(const SeccompChoice& choice);

/// Puts the number of a process in place of kUnknownProcess, and takes no memory: between fork() and execve().
void name_process(std::vector<sock_filter>& program, int process);

}  // namespace parlance::agent
