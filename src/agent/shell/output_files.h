// OutputFiles: where the whole outputs of a run go, which commands can read. Those of the last runs stay.
#pragma once
#include <cstdint>

#include "agent/sandbox/sandbox.h"
#include "agent/shell/capture.h"

namespace parlance::agent {

class OutputFiles {
 public:
  /// Of a new run. `sandbox` must outlive it.
  explicit OutputFiles(const Sandbox& sandbox);

  /// `stream` is the ending of its file: ".out", ".err".
  Capture capture(const OutputLimits& limits, const char* stream) const;

 private:
  const Sandbox& sandbox_;
  std::uint64_t number_;
};

}  // namespace parlance::agent
