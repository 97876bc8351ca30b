// The fallback where bubblewrap does not work: the kernel's Landlock for files, seccomp for the rest.
//
// It confines less, as docs/agent-sandbox.md says: commands see that other processes exist, and paths are those of the
// system, so that /tmp is another folder (TMPDIR).
#pragma once
#include "agent/sandbox/launch.h"

namespace parlance::agent {

/// What the kernel's Landlock can do, as a number that grows; 0: it has none, or it is off.
int landlock_abi();

/// The rules as a descriptor that restrict() applies. `terminal` is the path of the command's terminal, "" where it has
/// none. `writable` is what it may change, beside what all may.
/// Fails with: file.
Result<Descriptor> landlock_rules(const SandboxPolicy& policy, const SessionFolder& folder, const std::string& terminal,
                                  const std::vector<std::string>& writable);

/// Restricts the calling process for good, in a child before execve().
bool restrict_by_landlock(int rules);

}  // namespace parlance::agent
