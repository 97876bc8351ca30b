// Replay: renders and reads the turns of a capture again, and compares. No header of the network is needed for it.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/serve.h"

namespace parlance::serve {

/// Something that came out otherwise.
struct ReplayDifference {
  std::string file;
  std::size_t record = 0;  ///< the number of its line, from 1
  std::string what;        ///< "bytes", "prompt", "grammar", "reply", "kinds", "origins", "history", "versions"
  std::string sentence;
};

struct ReplayReport {
  std::size_t turns = 0;
  std::size_t different = 0;  ///< records with a difference
};

/// Opens a model as the capture says; `source` is the head's member (record.h), `name` the model's.
using OpenCaptured = std::function<Result<ModelOptions>(std::string_view source, const std::string& name)>;

/// Replays the turns of files, and of all files of folders, in the order of their time. A difference of versions counts
/// for no turn. Fails with file, value, and as `open` does.
Result<ReplayReport> replay(const std::vector<std::string>& paths, const OpenCaptured& open,
                            const std::function<void(const ReplayDifference&)>& say);

}  // namespace parlance::serve
