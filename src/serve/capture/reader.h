// Reads the files of a capture.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/result.h"
#include "parlance/tokenizer.h"

namespace parlance::serve {

/// A record on one line for every reader, with a hash of itself as its last member.
std::string sealed(std::string record);
/// Is the record what it was when it was written?
bool is_intact(std::string_view line);

/// A number of a record; 0 where it is none. Whoever has a capture may have changed it, and sealed it again.
inline std::int64_t number_in(Value value) { return value.is_small_int() ? value.integer : 0; }

/// A list of ids.
std::vector<TokenId> listed_ids(Value list);
/// The ids that were made up for the calls of a turn.
std::vector<std::string> call_ids_of(Value record);
/// Names what a session keeps of a turn, by the turn's record or by the member `from` of one that goes on from it.
std::string kept_name(Value record);

struct CaptureRecord {
  std::size_t line = 0;  ///< its number in the file, from 1
  std::size_t offset = 0;
  Document document;
  bool intact = true;  ///< false: its bytes changed; the document may be empty
  Value root() const { return document.root(); }
  std::string_view kind() const { return root()["record"].text(); }
};

struct CaptureText {
  std::vector<CaptureRecord> records;
  std::size_t size = 0;  ///< bytes of whole lines
  bool torn = false;     ///< the last line has no end, as a crash leaves it
};

/// Reads a file from a byte on, where a line begins. Fails with file, and with value for a format of a later version.
Result<CaptureText> read_capture(const std::string& path, std::size_t from = 0);
/// The files of sessions in a folder, sorted; a path that is no folder is one itself. Fails with file.
Result<std::vector<std::string>> capture_files(const std::string& path);

}  // namespace parlance::serve
