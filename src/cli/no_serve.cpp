// Stands for the gateway in a build without it.
#include "parlance/result.h"
#include "serve/capture/export.h"
#include "serve/capture/index.h"
#include "serve/record/replay.h"
#include "serve/serve.h"

namespace parlance::serve {

std::vector<std::pair<std::string_view, std::string_view>> engine_kinds() { return {}; }

Result<void> serve(ServeOptions, std::vector<ModelOptions>) {
  return Error(ErrorCode::usage, "this build has no gateway").hint("build with Boost 1.81 and -DPARLANCE_SERVE=ON");
}

Result<CaptureIndex> indexed_turns(const std::string&) {
  return Error(ErrorCode::usage, "this build has no gateway").hint("build with Boost 1.81 and -DPARLANCE_SERVE=ON");
}

Result<void> export_rows(const std::vector<std::string>&, const ExportOptions&,
                         const std::function<Result<void>(std::string_view)>&,
                         const std::function<void(const std::string&)>&) {
  return Error(ErrorCode::usage, "this build has no gateway").hint("build with Boost 1.81 and -DPARLANCE_SERVE=ON");
}

Result<ReplayReport> replay(const std::vector<std::string>&, const OpenCaptured&,
                            const std::function<void(const ReplayDifference&)>&) {
  return Error(ErrorCode::usage, "this build has no gateway").hint("build with Boost 1.81 and -DPARLANCE_SERVE=ON");
}

}  // namespace parlance::serve
