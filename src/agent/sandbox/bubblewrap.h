// Sandboxes by bubblewrap: namespaces of their own for files, processes, network and users.
#pragma once
#include <string>
#include <vector>

#include "agent/sandbox/launch.h"

namespace parlance::agent {

/// Where a command sees the session's folder `control`.
constexpr const char* kControlInside = "/run/parlance";

/// The path of the program `bwrap`; "" if it is not installed.
std::string bubblewrap_path();

/// Fails with: file.
Result<Started> start_in_bubblewrap(const SandboxPolicy& policy, const SessionFolder& folder, const Launch& launch);

}  // namespace parlance::agent
