// Makes the folders of a session, and removes them without following links.
#include "agent/sandbox/session_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "agent/sandbox/descriptor.h"

namespace parlance::agent {

namespace fs = std::filesystem;

SessionFolder::SessionFolder(SessionFolder&& other) noexcept : path_(std::exchange(other.path_, std::string())) {}

SessionFolder::~SessionFolder() {
  if (path_.empty()) return;
  std::error_code error;
  fs::remove_all(path_, error);
  if (!error) return;
  // Commands may have taken rights from folders of theirs.
  std::error_code ignored;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator each(path_, options, ignored), end; !ignored && each != end;
       each.increment(ignored)) {
    if (each->is_directory(ignored) && !each->is_symlink(ignored)) fs::permissions(*each, fs::perms::owner_all, ignored);
  }
  fs::remove_all(path_, error);
}

Result<SessionFolder> SessionFolder::open() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base && *base == '/' ? base : "/tmp") + "/parlance-agent-XXXXXX";
  if (!mkdtemp(pattern.data())) return system_error(pattern, errno);
  std::error_code error;
  SessionFolder folder(fs::canonical(pattern, error).string());
  for (const std::string& each : {folder.temporary(), folder.control(), folder.control() + "/output", folder.state(),
                                  folder.temporary() + "/home", folder.state() + "/shm"}) {
    if (mkdir(each.c_str(), 0700) != 0) return system_error(each, errno);
  }
  return folder;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_error(path, errno);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(path, errno);
    done += static_cast<std::size_t>(written);
  }
  return {};
}

Error system_error(const std::string& what, int number) {
  return Error(ErrorCode::file, what + ": " + std::strerror(number));
}

}  // namespace parlance::agent
