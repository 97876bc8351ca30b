// Sandboxes by bubblewrap: namespaces of their own for files, processes, network and users.
#pragma once
#include <string>
#include <vector>

#include "agent/sandbox/launch.h"

namespace parlance::agent {

/// Where a command sees the session's folder `control`.
constexpr const char* kControlInside = "/run/parlance";
/// Where a program sees its own home, if it has one (Launch::home).
constexpr const char* kHomeInside = "/run/parlance/home";

/// The path of the program `bwrap` without links: the first in PATH, /usr/bin or /usr/local/bin that commands cannot
/// change. It is found once, before they run.
/// Fails with: usage where there is none.
Result<std::string> find_bubblewrap(const SandboxPolicy& policy);

/// Writes what each start shows: users and groups, and root's copy of /etc. Once, before any start.
/// Fails with: file.
Result<void> prepare_bubblewrap(const SandboxPolicy& policy, SessionFolder& folder);

/// `program` is what find_bubblewrap() has found.
/// Fails with: file.
Result<Started> start_in_bubblewrap(const std::string& program, const SandboxPolicy& policy,
                                    const SessionFolder& folder, const Launch& launch);

}  // namespace parlance::agent
