// The trial of a sandbox: a small script in it attempts what must fail, and what must succeed.
#pragma once
#include "agent/sandbox/sandbox.h"

namespace parlance::agent {

/// Starts the trial, and says what it found.
/// Fails with: usage (why this sandbox does not hold or does not start; the hint says what would mend it).
Result<void> self_test(const Sandbox& sandbox);

}  // namespace parlance::agent
