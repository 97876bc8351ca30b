// Numbers the files.
#include "agent/shell/output_files.h"

#include <unistd.h>

#include <atomic>

namespace parlance::agent {

namespace {

constexpr std::uint64_t kKeptRuns = 20;  // whose outputs stay in files

}  // namespace

OutputFiles::OutputFiles(const Sandbox& sandbox) : sandbox_(sandbox) {
  static std::atomic<std::uint64_t> last{0};
  number_ = ++last;
  if (number_ <= kKeptRuns) return;
  const std::string old = sandbox.folder().control() + "/output/" + std::to_string(number_ - kKeptRuns);
  for (const char* stream : {".out", ".err"}) unlink((old + stream).c_str());
}

Capture OutputFiles::capture(const OutputLimits& limits, const char* stream) const {
  const std::string name = "/output/" + std::to_string(number_) + stream;
  return {limits, sandbox_.folder().control() + name, sandbox_.control_inside() + name};
}

}  // namespace parlance::agent
