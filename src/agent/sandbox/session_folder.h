// SessionFolder: the folder of a session outside of the workspace, which goes with it.
//
//   tmp/      the commands' own /tmp
//   control/  what we write and they read: scripts, pipes, the whole of long outputs
//   control/state/  what they may write of it: what a shell that ends leaves for the next one
//   shm/      their own /dev/shm
//   homes/    for each tool of the user's and each MCP server a home that commands cannot reach
//   etc/      as root, a copy of what is public in /etc
//
// A sandbox is given these folders by their paths at each start, so none of them lies in one that commands may change:
// they could put a link in its place.
#pragma once
#include <string>

#include "agent/sandbox/descriptor.h"
#include "parlance/result.h"

namespace parlance::agent {

class SessionFolder {
 public:
  SessionFolder(SessionFolder&& other) noexcept;
  SessionFolder& operator=(SessionFolder&&) = delete;
  /// Removes it with everything that commands have put there.
  ~SessionFolder();

  /// A new one in TMPDIR or /tmp, which nobody else may enter. Removes those of our agents that were killed.
  /// Fails with: file.
  static Result<SessionFolder> open();

  std::string path() const { return path_; }
  std::string temporary() const { return path_ + "/tmp"; }
  std::string control() const { return path_ + "/control"; }
  std::string state() const { return control() + "/state"; }
  std::string homes() const { return path_ + "/homes"; }
  std::string shared_memory() const { return path_ + "/shm"; }

 private:
  explicit SessionFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
  Descriptor lock_;  ///< held as long as we live: the folders of agents that were killed can be told
};

/// Writes a file whole.
/// Fails with: file.
Result<void> write_file(const std::string& path, const std::string& text);

/// A failed call of the system: "PATH: No such file or directory".
Error system_error(const std::string& what, int number);

}  // namespace parlance::agent
