// The input of --jsonl: lines of JSON, packed or not. What is something else is told as what it is, before any of it is
// answered.
#pragma once
#include <string>
#include <string_view>

#include "cli/input.h"
#include "cli/interruption.h"
#include "parlance/bulk.h"

namespace parlance::cli {

class LineInput {
 public:
  /// Opens it and reads its begin. Packed data is unpacked whatever the name of the file, and a byte order mark of
  /// UTF-8 is passed over. Fails with file; usage; json where it is no JSON lines.
  static Result<LineInput> open(const std::string& path);

  /// The bytes. Once a signal came there are none, and no end.   Lifetime: the LineInput's and the Interruption's.
  BulkInput bytes(const Interruption& interruption);
  /// How much of it was read, from 0 to 1; below 0 where its size is not known.
  double share() const { return stream_.share(); }
  /// As InputStream::finish().
  Result<void> finish() { return stream_.finish(); }

 private:
  explicit LineInput(InputStream stream) : stream_(std::move(stream)) {}
  void read_begin();
  Result<void> unpack();
  Result<bool> ended(const Result<bool>& more);

  InputStream stream_;
  std::string begin_;  ///< what was read, and is not given yet
  Result<bool> more_ = true;
};

/// Does a text that begins so consist of JSON lines? `is_all`: there is no more of it. Fails with json, saying what it
/// is and how it becomes lines of JSON.
Result<void> expect_json_lines(std::string_view begin, bool is_all, const std::string& path);

}  // namespace parlance::cli
