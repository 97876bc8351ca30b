// The process around a sandbox of Landlock: it takes in processes without a parent, ends all when we end, and changes
// files' modes for them in the places that are writable.
#pragma once
#include "agent/sandbox/launch.h"

namespace parlance::agent {

/// Forks the supervisor, which starts the program. Its exit status is the program's, or 128 and the number of the
/// signal. Fails with: file.
Result<Started> start_in_landlock(const SandboxPolicy& policy, const SessionFolder& folder, const Launch& launch);

/// The same without any confinement but the limits of each process: what --no-sandbox asks for.
/// Fails with: file.
Result<Started> start_unconfined(const SandboxPolicy& policy, const Launch& launch);

}  // namespace parlance::agent
