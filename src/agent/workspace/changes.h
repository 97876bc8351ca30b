// WorkspaceChanges: which files of a folder a command has changed. What it wrote as it was before does not count, so
// that a test which runs once more, and writes its caches once more, changes nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace parlance::agent {

class WorkspaceChanges {
 public:
  explicit WorkspaceChanges(std::string folder);

  /// The paths below the folder that were made, changed or removed since the last call, sorted, at most so many.
  /// `found` counts all. Links are not followed.
  std::vector<std::string> take(std::size_t most = 20);
  std::size_t found() const { return found_; }

 private:
  /// What tells a file from another of the same name. A hash of its bytes once its stamp has changed.
  struct Entry {
    std::uint64_t size = 0, inode = 0, mode = 0;
    std::int64_t modified = 0, touched = 0;  ///< nanoseconds
    std::string hash{};                      ///< "": nobody has read it
    bool seen = false;
  };
  void look(const std::string& folder, int depth);
  void look_at(const std::string& path, int depth);
  void note(const std::string& path);

  std::string folder_;
  std::unordered_map<std::string, Entry> entries_;
  std::vector<std::string> changed_;
  std::size_t found_ = 0, looked_at_ = 0;
};

}  // namespace parlance::agent
