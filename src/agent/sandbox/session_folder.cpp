// Makes the folders of a session, and removes them without following links.
#include "agent/sandbox/session_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

namespace parlance::agent {

namespace {

constexpr const char* kPrefix = "/parlance-agent-";
constexpr std::time_t kYoung = 60;  // seconds in which a new folder may not have its lock yet

Descriptor open_folder(int parent, const char* name) {
  Descriptor folder(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder || errno != EACCES) return folder;
  // Commands may have taken rights from folders of theirs.
  const Descriptor closed(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  chmod(("/proc/self/fd/" + std::to_string(closed.get())).c_str(), 0700);
  return Descriptor(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// All of them, also where it was read before: the copy of the descriptor shares its place.
std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  DIR* const stream = fdopendir(dup(folder));
  if (stream) rewinddir(stream);
  while (const dirent* entry = stream ? readdir(stream) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (stream) closedir(stream);
  return names;
}

/// Removes an entry of the root. The folders in it move to the root, so that none is deeper than one: their paths may
/// be longer than any call takes. False: it stays.
bool remove_entry(int root, const std::string& name, std::uint64_t& moved) {
  if (unlinkat(root, name.c_str(), 0) == 0) return true;
  const Descriptor folder = open_folder(root, name.c_str());
  if (!folder || fchmod(folder.get(), 0700) != 0) return false;
  for (const std::string& inner : names_in(folder.get())) {
    if (unlinkat(folder.get(), inner.c_str(), 0) == 0 || unlinkat(folder.get(), inner.c_str(), AT_REMOVEDIR) == 0)
      continue;
    const Descriptor deeper = open_folder(folder.get(), inner.c_str());
    if (!deeper || fchmod(deeper.get(), 0700) != 0) return false;
    const std::string place = ".removed-" + std::to_string(moved++);
    if (renameat(folder.get(), inner.c_str(), root, place.c_str()) != 0 && errno != EEXIST && errno != ENOTEMPTY)
      return false;
  }
  return unlinkat(root, name.c_str(), AT_REMOVEDIR) == 0;
}

/// Removes it, and no other than it: links are not followed.
void remove_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) return;
  const Descriptor root = open_folder(AT_FDCWD, path.c_str());
  std::uint64_t moved = 0;
  for (bool is_changed = bool(root); is_changed;) {
    is_changed = false;
    for (const std::string& name : names_in(root.get()))
      is_changed = remove_entry(root.get(), name, moved) || is_changed;
  }
  rmdir(path.c_str());
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

OwnFolder::OwnFolder(OwnFolder&& other) noexcept
    : path_(std::exchange(other.path_, std::string())), lock_(std::move(other.lock_)) {}

OwnFolder& OwnFolder::operator=(OwnFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

OwnFolder::~OwnFolder() {
  if (!path_.empty()) remove_folder(path_);
}

Result<OwnFolder> OwnFolder::make(const std::string& base) {
  remove_left_folders(base);
  std::string pattern = base + kPrefix + "XXXXXX";
  if (!mkdtemp(pattern.data())) return system_error(pattern, errno);
  std::error_code error;
  OwnFolder folder;
  folder.path_ = std::filesystem::canonical(pattern, error).string();
  folder.lock_ = lock_of(folder.path_, O_CREAT);
  return folder;
}

Result<SessionFolder> SessionFolder::open() {
  const char* given = std::getenv("TMPDIR");
  Result<OwnFolder> own = OwnFolder::make(given && *given == '/' ? given : "/tmp");
  if (!own) return own.error();
  SessionFolder folder(std::move(*own));
  for (const std::string& each : {folder.temporary(), folder.control(), folder.control() + "/output", folder.state(),
                                  folder.temporary() + "/home", folder.shared_memory(), folder.homes()}) {
    if (mkdir(each.c_str(), 0700) != 0) return system_error(each, errno);
  }
  return folder;
}

bool SessionFolder::keep_etc_in(const std::string& base) {
  Result<OwnFolder> made = OwnFolder::make(base);
  if (made) etc_in_ = std::move(*made);
  return bool(made);
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
