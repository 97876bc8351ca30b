// Begin reading at answer_metadata_call.
#include "agent/sandbox/metadata_broker.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "agent/sandbox/descriptor.h"
#include "agent/sandbox/places.h"
#include "agent/sandbox/process_tree.h"

namespace parlance::agent {

namespace {

enum class Change { mode, owner, times };

/// Where a call has what: the positions of its arguments; -1: it has none.
struct CallForm {
  int number;
  Change change;
  int folder;  ///< the descriptor of a folder, or of the file where there is no path
  int path;
  int first;  ///< the mode, the user, or the times
  int flags;
  int fixed_flags;
};

constexpr int kFchmodat2Form = 452;
constexpr CallForm kForms[] = {
    {SYS_fchmod, Change::mode, 0, -1, 1, -1, 0},
    {SYS_fchmodat, Change::mode, 0, 1, 2, -1, 0},
    {kFchmodat2Form, Change::mode, 0, 1, 2, 3, 0},
    {SYS_fchown, Change::owner, 0, -1, 1, -1, 0},
    {SYS_fchownat, Change::owner, 0, 1, 2, 4, 0},
    {SYS_utimensat, Change::times, 0, 1, 2, 3, 0},
#if defined(__x86_64__)
    {SYS_chmod, Change::mode, -1, 0, 1, -1, 0},
    {SYS_chown, Change::owner, -1, 0, 1, -1, 0},
    {SYS_lchown, Change::owner, -1, 0, 1, -1, AT_SYMLINK_NOFOLLOW},
#endif
};

/// A text that ends with a zero. False: it is none, or too long.
bool read_path(const Descriptor& memory, std::uint64_t from, std::string& path) {
  char part[256];
  while (memory && path.size() < PATH_MAX) {
    const std::size_t to_page_end = 4096 - static_cast<std::size_t>((from + path.size()) % 4096);
    const ssize_t size =
        pread(memory.get(), part, std::min(sizeof part, to_page_end), static_cast<off_t>(from + path.size()));
    if (size <= 0) return false;
    const std::size_t length = strnlen(part, static_cast<std::size_t>(size));
    path.append(part, length);
    if (length < static_cast<std::size_t>(size)) return true;
  }
  return false;
}

/// One call: who makes it, and with which arguments.
class Call {
 public:
  Call(const seccomp_notif& request, const CallForm& form)
      : request_(request), form_(form), process_("/proc/" + std::to_string(request.pid)) {
    memory_ = Descriptor(open((process_ + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  }

  /// 0, or the number of the error that the call shall fail with.
  int run(int filter, const std::vector<std::string>& writable) {
    if (const int error = open_file(); error != 0) return error;
    timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    const bool given = form_.change == Change::times && argument(form_.first) != 0;
    if (given && !read_memory(memory_, argument(form_.first), times, sizeof times)) return EFAULT;
    // Until here the process may have ended, and its number be another's.
    if (ioctl(filter, SECCOMP_IOCTL_NOTIF_ID_VALID, &request_.id) != 0) return EPERM;
    return is_writable(writable) ? change(times) : EPERM;
  }

 private:
  std::uint64_t argument(int index) const { return index < 0 ? 0 : request_.data.args[index]; }

  int open_file() {
    const int number = form_.folder < 0 ? AT_FDCWD : static_cast<int>(argument(form_.folder));
    const std::string base = number == AT_FDCWD ? "/cwd" : "/fd/" + std::to_string(number);
    Descriptor folder(open((process_ + base).c_str(), O_PATH | O_CLOEXEC));
    if (!folder) return EBADF;
    std::string path;
    if (form_.path >= 0 && argument(form_.path) != 0 && !read_path(memory_, argument(form_.path), path)) return EFAULT;
    if (path.empty()) {
      file_ = std::move(folder);
      return 0;
    }
    path = as_its_own(path);
    const int flags = static_cast<int>(argument(form_.flags)) | form_.fixed_flags;
    const int follow = (flags & AT_SYMLINK_NOFOLLOW) != 0 ? O_NOFOLLOW : 0;
    file_ = Descriptor(openat(folder.get(), path.c_str(), O_PATH | O_CLOEXEC | follow));
    return file_ ? 0 : errno;
  }

  /// A path by which a process names what it has open itself, as glibc does for a file that must be no link.
  std::string as_its_own(const std::string& path) const {
    constexpr std::string_view kSelf = "/proc/self/", kThread = "/proc/thread-self/", kOpen = "/dev/fd/";
    if (path.starts_with(kSelf)) return process_ + path.substr(kSelf.size() - 1);
    if (path.starts_with(kThread)) return process_ + path.substr(kThread.size() - 1);
    return path.starts_with(kOpen) ? process_ + "/fd" + path.substr(kOpen.size() - 1) : path;
  }

  bool is_writable(const std::vector<std::string>& places) const {
    char target[PATH_MAX + 1] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(file_.get());
    if (readlink(link.c_str(), target, PATH_MAX) <= 0) return false;
    return std::any_of(places.begin(), places.end(),
                       [&](const std::string& place) { return is_within(target, place); });
  }

  bool is_folder() const {
    struct stat facts {};
    return fstat(file_.get(), &facts) == 0 && S_ISDIR(facts.st_mode);
  }

  int change(const timespec* times) const {
    const std::string link = "/proc/self/fd/" + std::to_string(file_.get());
    int done = -1;
    switch (form_.change) {
      case Change::mode: {
        const auto mode = static_cast<mode_t>(argument(form_.first));
        if ((mode & S_ISUID) != 0 || ((mode & S_ISGID) != 0 && !is_folder())) return EPERM;
        done = chmod(link.c_str(), mode & 07777);
        break;
      }
      case Change::owner:
        done = fchownat(file_.get(), "", static_cast<uid_t>(argument(form_.first)),
                        static_cast<gid_t>(argument(form_.first + 1)), AT_EMPTY_PATH);
        break;
      case Change::times: done = utimensat(file_.get(), "", times, AT_EMPTY_PATH); break;
    }
    return done == 0 ? 0 : errno;
  }

  const seccomp_notif& request_;
  const CallForm& form_;
  std::string process_;
  Descriptor memory_;
  Descriptor file_;
};

}  // namespace

void answer_metadata_call(int filter, const std::vector<std::string>& writable) {
  seccomp_notif request{};
  if (ioctl(filter, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;
  seccomp_notif_resp answer{};
  answer.id = request.id;
  answer.error = -EPERM;
  for (const CallForm& form : kForms) {
    if (form.number == request.data.nr) answer.error = -Call(request, form).run(filter, writable);
  }
  ioctl(filter, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace parlance::agent
