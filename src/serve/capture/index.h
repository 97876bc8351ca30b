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

/// Records of a file that are not what was written, and have no row.
struct CaptureDamage {
  std::string file;
  std::int64_t line = 0;     ///< of the first
  std::int64_t records = 0;  ///< how many
};

struct CaptureIndex {
  std::vector<CaptureRow> turns;  ///< by time
  std::vector<CaptureDamage> damage;
};

/// Brings FOLDER/index.sqlite up to date with the files and reads it. Fails with file, value; usage if
/// this build has no SQLite.
Result<CaptureIndex> indexed_turns(const std::string& folder);

}  // namespace parlance::serve
