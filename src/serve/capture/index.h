// An index of a capture's turns in SQLite. It has nothing that the files have not: if it is lost, it is made again.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "parlance/result.h"

namespace parlance::serve {

struct CaptureRow {
  std::string session, file, time, model, api, id, status;
  std::int64_t line = 0, offset = 0;  ///< of the record in its file
  std::int64_t turn = 0;
  std::int64_t prompt_tokens = 0, reused = 0, sampled = 0;
  std::int64_t evaluated = -1;  ///< -1: the engine did not say
  std::string flags;            ///< words: "prefix_break guarded faults grammar length"
};

/// Brings FOLDER/index.sqlite up to date with the files and gives its turns, by time. Fails with file, value; usage if
/// this build has no SQLite.
Result<std::vector<CaptureRow>> indexed_turns(const std::string& folder);

}  // namespace parlance::serve
