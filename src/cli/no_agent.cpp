// Stands for the agent in a build without it.
#include "cli/commands.h"
#include "cli/options/prompt_options.h"
#include "cli/report.h"

namespace parlance::cli {

Run declare_agent(Options&) {
  return [] {
    return report(
        usage("this build has no agent",
              "build on Linux on x86-64 or aarch64, with Boost 1.81, -DPARLANCE_SERVE=ON and -DPARLANCE_AGENT=ON"));
  };
}

void tell_agent_refused(const Error&) {}

}  // namespace parlance::cli
