// SessionFolder: the folder of a session outside of the workspace, which goes with it.
//
//   tmp/      the commands' own /tmp
//   control/  what we write and they read: scripts, pipes, the whole of long outputs
//   control/state/  what they may write of it: what a shell that ends leaves for the next one
//   shm/      their own /dev/shm
//   homes/    for each tool of the user's and each MCP server a home that commands cannot reach
//   etc/      as root, a copy of what is public in /etc; in memory, where there is a file system for it
//
// A sandbox is given these folders by their paths at each start, so none of them lies in one that commands may change:
// they could put a link in its place.
#pragma once
#include <string>

#include "agent/sandbox/descriptor.h"
#include "parlance/result.h"

namespace parlance::agent {

/// A folder that nobody else may enter. It goes with the object, with everything that is in it.
class OwnFolder {
 public:
  OwnFolder() = default;  ///< none
  OwnFolder(OwnFolder&& other) noexcept;
  OwnFolder& operator=(OwnFolder&& other) noexcept;
  ~OwnFolder();

  /// A new one in `base`. Removes those of our agents that were killed.
  /// Fails with: file.
  static Result<OwnFolder> make(const std::string& base);

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor lock_;  ///< held as long as we live: the folders of agents that were killed can be told
};

class SessionFolder {
 public:
  /// A new one in TMPDIR or /tmp.
  /// Fails with: file.
  static Result<SessionFolder> open();

  const std::string& path() const { return own_.path(); }
  std::string temporary() const { return path() + "/tmp"; }
  std::string control() const { return path() + "/control"; }
  std::string state() const { return control() + "/state"; }
  std::string homes() const { return path() + "/homes"; }
  std::string shared_memory() const { return path() + "/shm"; }
  std::string etc() const { return (etc_in_.path().empty() ? path() : etc_in_.path()) + "/etc"; }

  /// Moves etc() to a folder of `base`, before it is made: a disk takes a while for the thousand files of /etc. False:
  /// there can be none. Removes those of our agents that were killed.
  bool keep_etc_in(const std::string& base);
  /// Moves it back, and removes what is there.
  void keep_etc_here() { etc_in_ = OwnFolder(); }

 private:
  explicit SessionFolder(OwnFolder own) : own_(std::move(own)) {}

  OwnFolder own_, etc_in_;
};

/// Writes a file whole.
/// Fails with: file.
Result<void> write_file(const std::string& path, const std::string& text);

/// A failed call of the system: "PATH: No such file or directory".
Error system_error(const std::string& what, int number);

}  // namespace parlance::agent
