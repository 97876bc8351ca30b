// See unfinished_file.h. Begin reading at UnfinishedFile::open.
#include "cli/lines/unfinished_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/input.h"

namespace parlance::cli {
namespace {

/// The bytes of one file in place of those of another. 0, or the failure.
int copy_into(const std::string& from, const std::string& into) {
  const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const int target = source < 0 ? -1 : ::open(into.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  int failed = target < 0 ? errno : 0;
  std::array<char, 1 << 16> buffer;
  while (failed == 0) {
    const ssize_t size = ::read(source, buffer.data(), buffer.size());
    if (size == 0) break;
    if (size < 0 ? errno != EINTR : !write_all(target, {buffer.data(), static_cast<std::size_t>(size)})) failed = errno;
  }
  if (source >= 0) ::close(source);
  if (target >= 0 && ::close(target) != 0 && failed == 0) failed = errno;
  return failed;
}

/// Is there a file that another run writes?
bool is_taken(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const bool taken = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return taken;
}

/// Makes a file beside `path`, whose name becomes `made`; kTaken where another run writes one, -1 where there can be
/// none. A file of the first name that nobody writes was left by a run that was killed, or is something else: it stays.
int make_beside(const std::string& path, std::string& made) {
  for (const std::string& number : {std::string(), "." + std::to_string(::getpid())}) {
    made = path + number + ".part";
    const int file = ::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) (void)::flock(file, LOCK_EX | LOCK_NB);
    if (file >= 0 || errno != EEXIST) return file;
    if (is_taken(made)) return UnfinishedFile::kTaken;
  }
  return -1;
}

/// Gives a new file the owner and the group of the old one, where it has others.
bool give_to(int file, const struct stat& old) {
  struct stat made {};
  if (::fstat(file, &made) == 0 && made.st_uid == old.st_uid && made.st_gid == old.st_gid) return true;
  return ::fchown(file, old.st_uid, old.st_gid) == 0;
}

}  // namespace

int UnfinishedFile::open(const std::string& path) {
  struct stat old {};
  const bool is_new = ::stat(path.c_str(), &old) != 0;
  if (!is_new && (!S_ISREG(old.st_mode) || old.st_nlink > 1)) return -1;
  if (is_new && ::lstat(path.c_str(), &old) == 0) return -1;  // a link to what is not there
  std::error_code failed;
  const std::filesystem::path real = is_new ? path : std::filesystem::canonical(path, failed).string();
  if (failed || (!is_new && ::access(path.c_str(), W_OK) != 0)) return -1;
  path_ = real.string();
  const int file = make_beside(path_, unfinished_);
  if (file < 0) return file;
  if (!is_new && !give_to(file, old)) {
    ::close(file);
    ::unlink(unfinished_.c_str());
    return -1;
  }
  if (!is_new) (void)::fchmod(file, old.st_mode & 07777);
  name_ = unfinished_.c_str();
  undo_at_signals();
  return file;
}

void UnfinishedFile::add_to(int file) {
  size_before_ = ::lseek(file, 0, SEEK_END);
  added_to_ = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  undo_at_signals();
}

int UnfinishedFile::finish(bool is_whole) {
  if (added_to_ >= 0) return finish_added(is_whole);
  if (name_ == nullptr) return 0;
  const int done = is_whole ? ::rename(unfinished_.c_str(), path_.c_str()) : ::unlink(unfinished_.c_str());
  const int failed = done == 0 ? 0 : errno;
  name_ = nullptr;
  return failed != 0 && is_whole ? copy() : failed;
}

int UnfinishedFile::finish_added(bool is_whole) {
  const int file = added_to_;
  const int failed = is_whole || ::ftruncate(file, size_before_) == 0 ? 0 : errno;
  added_to_ = -1;
  ::close(file);
  return failed;
}

int UnfinishedFile::copy() {
  const int failed = copy_into(unfinished_, path_);
  if (failed == 0)
    ::unlink(unfinished_.c_str());
  else
    left_ = unfinished_;
  return failed;
}

/// In a handler of signals.
void UnfinishedFile::undo(int number) {
  if (const char* const name = name_) ::unlink(name);
  if (added_to_ >= 0) (void)!::ftruncate(added_to_, size_before_);
  ::raise(number);
}

void UnfinishedFile::undo_at_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = undo;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    (void)::sigaction(signal, &action, nullptr);
  }
}

}  // namespace parlance::cli
