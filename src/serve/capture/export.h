// Training rows from a capture. No header of the network is needed for it.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance::serve {

struct ExportOptions {
  bool per_turn = false;  ///< a row for each turn; false: for each session
  bool failed = false;    ///< turns without an answer too
};

/// Gives `take` each row as a line of JSON: `id`, `session`, `model`, `ids`, `labels`, `loss_mask`, `kinds`, `turns`,
/// `logprobs`; docs/serve-capture.md describes them. A session has a row more for each turn that does not go on from
/// the ids of the turn before, or that another one replaced. Skips records that changed, and tells `note` of them.
/// Fails with file, value, and as `take` does.
Result<void> export_rows(const std::vector<std::string>& paths, const ExportOptions& options,
                         const std::function<Result<void>(std::string_view line)>& take,
                         const std::function<void(const std::string&)>& note);

}  // namespace parlance::serve
