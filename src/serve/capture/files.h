// CaptureFiles: appends records to the files of sessions, so that what was acknowledged is there after a crash.
//
// A record is one line of JSON. It is written by one write() and is on the disk before append() returns, unless its
// writer says that it may wait for the next one (CaptureEntry::sync). A crash can
// leave a line without its end; it is cut off when the file is opened the next time.
#pragma once
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parlance/result.h"

namespace parlance::serve {

/// What a record needs in its file before it. Neither has a newline.
struct CaptureEntry {
  std::string file;       ///< its name in the folder
  std::string head{};     ///< the record of versions; written where the file's last one differs
  std::string grammar{};  ///< a record of a grammar's text, or ""; written once for each file
  std::string grammar_hash{};
  std::string record;
  bool sync = true;  ///< false: a crash of the machine may take it, one of the process does not
};

/// The name of a session's file: safe for any file system, and no other session's. `owner` keeps clients apart.
std::string capture_file_name(std::string_view session, std::string_view owner);

/// Threads: any; appends to different files do not wait for each other.
class CaptureFiles {
 public:
  /// Makes the folder if it is missing. Fails with file if it cannot be written to, or if another process captures
  /// there.
  static Result<std::unique_ptr<CaptureFiles>> open(const std::string& folder);
  CaptureFiles(const CaptureFiles&) = delete;
  CaptureFiles& operator=(const CaptureFiles&) = delete;
  ~CaptureFiles();

  /// Where the file was removed or moved, it is made anew. Fails with file. The file is then as it was before.
  Result<void> append(const CaptureEntry& entry);
  /// Which file of this name it is, since one may be removed or moved while the gateway runs; 0: there is none, or
  /// nothing was appended to it lately. No two files have the same, also where one has the inode of one that is gone.
  std::uint64_t version(const std::string& name);
  /// Can the folder be written to? Files that were removed give their room back before. Fails with file.
  Result<void> probe();
  const std::string& folder() const { return folder_; }

 private:
  struct File;
  struct Known {
    std::string name;
    std::shared_ptr<File> file;
    bool is_open = true;  ///< it is in open_, and may have a descriptor
  };
  using Order = std::list<Known>;

  explicit CaptureFiles(std::string folder) : folder_(std::move(folder)) {}
  std::shared_ptr<File> file_named(const std::string& name);
  void leave_room(std::vector<std::shared_ptr<File>>& to_close);
  Result<void> open_file(File& file, const std::string& name);
  void close_removed();

  std::string folder_;
  int lock_ = -1;
  std::atomic<std::int64_t> looked_ = 0;  ///< when for removed files, in seconds of the steady clock
  std::mutex mutex_;                      // of what follows
  Order open_, closed_;                   ///< the last used first
  std::unordered_map<std::string, Order::iterator> known_;
  std::uint64_t versions_ = 0;  ///< that were given to files
};

}  // namespace parlance::serve
