// What a sandbox allows: SandboxPolicy, plain data that bubblewrap.cpp and landlock.cpp carry out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace parlance::agent {

/// How much the processes of one sandbox may use. The limits hold for all of them together where nothing else is said.
struct SandboxLimits {
  std::uint64_t processes = 512;           ///< processes and their threads
  std::uint64_t memory = 4ULL << 30;       ///< bytes
  std::uint64_t file_size = 2ULL << 30;    ///< bytes of one file
  std::uint64_t open_files = 4096;         ///< of one process
  std::uint64_t processor_seconds = 7200;  ///< of one process
};

/// What commands may see and change.
struct SandboxPolicy {
  std::string workspace{};              ///< the folder they may change; an absolute path
  std::vector<std::string> writable{};  ///< other folders and files that they may change; one may hold the workspace
  std::vector<std::string> readable{};  ///< other folders and files that they may read
  /// Other paths by which those folders and files were named, and what they lead to; checked() fills it.
  std::vector<std::pair<std::string, std::string>> links{};
  bool network = false;  ///< may they open connections?
  SandboxLimits limits{};
  bool control_groups = true;  ///< set the limits by control groups, too, where we may
  /// Variables of our environment that they see. Others they do not: these often hold secrets.
  std::vector<std::string> environment{"LANG", "LC_ALL", "LC_CTYPE", "TZ", "COLUMNS", "LINES"};
};

/// The workspace and the others that commands may change, without those that lie in another of them.
std::vector<std::string> changeable(const SandboxPolicy& policy);
/// These, and what they may only read.
std::vector<std::string> shown_paths(const SandboxPolicy& policy);

/// What keeps commands inside.
enum class SandboxKind : std::uint8_t { bubblewrap, landlock, none };

/// "bubblewrap", "landlock", "none"
const char* name_of(SandboxKind kind);

}  // namespace parlance::agent
