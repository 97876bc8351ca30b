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
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "agent/sandbox/descriptor.h"
#include "agent/sandbox/metadata_calls.h"
#include "agent/sandbox/places.h"
#include "agent/sandbox/process_tree.h"

namespace parlance::agent {

namespace {

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

/// The mount that a file is on; 0: the kernel does not say (before Linux 5.8).
std::uint64_t mount_of(int file) {
  struct statx facts {};
  const bool known = statx(file, "", AT_EMPTY_PATH, STATX_MNT_ID, &facts) == 0 && (facts.stx_mask & STATX_MNT_ID) != 0;
  return known ? facts.stx_mnt_id : 0;
}

/// Do we have the mount, too? Through /proc/PID/root a path may lead into another namespace, where other files have the
/// paths of ours.
bool is_mount_of_ours(std::uint64_t mount) {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);)
    if (std::strtoull(line.c_str(), nullptr, 10) == mount) return true;
  return false;
}

/// One call: who makes it, and with which arguments.
class Call {
 public:
  Call(const seccomp_notif& request, const MetadataCall& form)
      : request_(request), form_(form), process_("/proc/" + std::to_string(request.pid)) {
    memory_ = Descriptor(open((process_ + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  }

  /// 0, or the number of the error that the call shall fail with.
  int run(int filter, const std::vector<std::string>& writable) {
    if (const int error = open_file(); error != 0) return error;
    timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    const bool given = form_.change == MetadataChange::times && argument(form_.first) != 0;
    if (const int error = given ? read_times(times) : 0; error != 0) return error;
    // Until here the process may have ended, and its number be another's.
    if (ioctl(filter, SECCOMP_IOCTL_NOTIF_ID_VALID, &request_.id) != 0) return EPERM;
    return is_writable(writable) ? change(times) : EPERM;
  }

 private:
  std::uint64_t argument(int index) const { return index < 0 ? 0 : request_.data.args[index]; }

  /// As two times with nanoseconds, whatever the call's own form.
  int read_times(timespec* times) const {
    constexpr long kMicroseconds = 1'000'000;
    long given[4] = {};  // a second and its fraction, twice
    const std::size_t count = form_.times == TimeForm::seconds ? 2 : 4;
    if (!read_memory(memory_, argument(form_.first), given, count * sizeof *given)) return EFAULT;
    for (const int each : {0, 1}) {
      const long fraction = given[2 * each + 1];
      if (form_.times == TimeForm::seconds) {
        times[each] = {given[each], 0};
      } else if (form_.times == TimeForm::nanoseconds) {
        times[each] = {given[2 * each], fraction};
      } else if (fraction < 0 || fraction >= kMicroseconds) {
        return EINVAL;
      } else {
        times[each] = {given[2 * each], fraction * 1000};
      }
    }
    return 0;
  }

  int open_file() {
    const int number = form_.folder < 0 ? AT_FDCWD : static_cast<int>(argument(form_.folder));
    const int flags = static_cast<int>(argument(form_.flags)) | form_.fixed_flags;
    if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0) return EINVAL;
    // Times are of the descriptor itself where there is no path.
    const bool has_path =
        form_.path >= 0 && (argument(form_.path) != 0 || form_.change != MetadataChange::times || number == AT_FDCWD);
    if (form_.path >= 0 && !has_path && flags != 0) return EINVAL;
    std::string path;
    if (has_path && !read_path(memory_, argument(form_.path), path)) return EFAULT;
    if (has_path && path.empty() && (flags & AT_EMPTY_PATH) == 0) return ENOENT;
    const std::string base = number == AT_FDCWD ? "/cwd" : "/fd/" + std::to_string(number);
    Descriptor folder(open((process_ + base).c_str(), O_PATH | O_CLOEXEC));
    if (!folder) return EBADF;
    if (path.empty()) {
      file_ = std::move(folder);
      return 0;
    }
    path = as_its_own(path);
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
    const auto place = std::ranges::find_if(places, [&](const std::string& each) { return is_within(target, each); });
    if (place == places.end()) return false;
    const std::uint64_t mount = mount_of(file_.get());
    // Mostly it is the place's own. In a chroot the list of mounts may lack it, and a long list takes its time.
    const Descriptor opened(open(place->c_str(), O_PATH | O_CLOEXEC));
    return mount == 0 || (opened && mount_of(opened.get()) == mount) || is_mount_of_ours(mount);
  }

  bool is_folder() const {
    struct stat facts {};
    return fstat(file_.get(), &facts) == 0 && S_ISDIR(facts.st_mode);
  }

  int change(const timespec* times) const {
    const std::string link = "/proc/self/fd/" + std::to_string(file_.get());
    int done = -1;
    switch (form_.change) {
      case MetadataChange::mode: {
        const auto mode = static_cast<mode_t>(argument(form_.first));
        if ((mode & S_ISUID) != 0 || ((mode & S_ISGID) != 0 && !is_folder())) return EPERM;
        done = chmod(link.c_str(), mode & 07777);
        break;
      }
      case MetadataChange::owner:
        done = fchownat(file_.get(), "", static_cast<uid_t>(argument(form_.first)),
                        static_cast<gid_t>(argument(form_.first + 1)), AT_EMPTY_PATH);
        break;
      case MetadataChange::times: done = utimensat(file_.get(), "", times, AT_EMPTY_PATH); break;
    }
    return done == 0 ? 0 : errno;
  }

  const seccomp_notif& request_;
  const MetadataCall& form_;
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
  for (const MetadataCall& form : kMetadataCalls) {
    if (form.number == request.data.nr) answer.error = -Call(request, form).run(filter, writable);
  }
  ioctl(filter, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

}  // namespace parlance::agent
