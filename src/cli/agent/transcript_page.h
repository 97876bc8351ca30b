// A page of an agent's transcript, to read it by. It needs nothing else: no script, no network.
#pragma once
#include <string>

#include "parlance/result.h"

namespace parlance::cli {

/// Fails with file, value (no transcript of an agent).
Result<std::string> transcript_page(const std::string& file);

}  // namespace parlance::cli
