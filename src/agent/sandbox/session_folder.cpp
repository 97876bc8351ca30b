// Makes the folders of a session, and removes them without following links.
#include "agent/sandbox/session_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

namespace parlance::agent {

namespace {

constexpr const char* kPrefix = "/parlance-agent-";
constexpr std::time_t kYoung = 60;  // seconds in which a new folder may not have its lock yet

/// Removes it, and no other than it: links are not followed.
void remove_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return;
  // Commands may have taken rights from folders of theirs.
  std::error_code ignored;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator each(path, options, ignored), end; !ignored && each != end;
       each.increment(ignored)) {
    if (each->is_directory(ignored) && !each->is_symlink(ignored))
      std::filesystem::permissions(*each, std::filesystem::perms::owner_all, ignored);
  }
  std::filesystem::remove_all(path, error);
}

Descriptor lock_of(const std::string& path, int flags) {
  Descriptor lock(open((path + "/lock").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  return lock && flock(lock.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(lock) : Descriptor();
}

void remove_left_folders(const std::string& base) {
  std::error_code error;
  for (std::filesystem::directory_iterator each(base, error), end; !error && each != end; each.increment(error)) {
    const std::string path = each->path().string();
    struct stat facts {};
    const bool named = path.compare(0, base.size() + std::strlen(kPrefix), base + kPrefix) == 0;
    if (!named || lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || facts.st_uid != geteuid()) continue;
    if (facts.st_mtime + kYoung < std::time(nullptr) && lock_of(path, 0)) remove_folder(path);
  }
}

}  // namespace

SessionFolder::SessionFolder(SessionFolder&& other) noexcept
    : path_(std::exchange(other.path_, std::string())), lock_(std::move(other.lock_)) {}

SessionFolder::~SessionFolder() {
  if (!path_.empty()) remove_folder(path_);
}

Result<SessionFolder> SessionFolder::open() {
  const char* given = std::getenv("TMPDIR");
  const std::string base = given && *given == '/' ? given : "/tmp";
  remove_left_folders(base);
  std::string pattern = base + kPrefix + "XXXXXX";
  if (!mkdtemp(pattern.data())) return system_error(pattern, errno);
  std::error_code error;
  SessionFolder folder(std::filesystem::canonical(pattern, error).string());
  folder.lock_ = lock_of(folder.path(), O_CREAT);
  for (const std::string& each : {folder.temporary(), folder.control(), folder.control() + "/output", folder.state(),
                                  folder.temporary() + "/home", folder.shared_memory()}) {
    if (mkdir(each.c_str(), 0700) != 0) return system_error(each, errno);
  }
  return folder;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  // Cut to its new size, not to none: ext4 would write what replaces it to the disk when the file is closed.
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return system_error(path, errno);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(path, errno);
    done += static_cast<std::size_t>(written);
  }
  if (ftruncate(file.get(), static_cast<off_t>(text.size())) != 0) return system_error(path, errno);
  return {};
}

Error system_error(const std::string& what, int number) {
  return Error(ErrorCode::file, what + ": " + std::strerror(number));
}

}  // namespace parlance::agent
