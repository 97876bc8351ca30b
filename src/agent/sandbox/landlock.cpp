// Makes Landlock's rules: all is refused but what lies below the paths that are added. Begin reading at landlock_rules.
#include "agent/sandbox/landlock.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "agent/sandbox/places.h"

namespace parlance::agent {

namespace {

// The kernel's own header may be older than the kernel.
struct RulesetFacts {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scoped;
};
struct __attribute__((packed)) PathRule {
  std::uint64_t allowed;
  std::int32_t parent;
};
constexpr int kCreate = 444, kAdd = 445, kRestrict = 446;
constexpr std::uint64_t kExecute = 1 << 0, kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadFolder = 1 << 3;
constexpr std::uint64_t kTruncate = 1 << 14, kDeviceControl = 1 << 15;
constexpr std::uint64_t kRead = kExecute | kReadFile | kReadFolder;
constexpr std::uint64_t kOfFiles = kExecute | kWriteFile | kReadFile | kTruncate | kDeviceControl;
constexpr std::uint64_t kMakeDevices = (1 << 6) | (1 << 11);  // character and block
constexpr std::uint64_t kNetwork = 3;                         // to bind and to connect TCP
constexpr std::uint64_t kScoped = 3;                          // abstract local sockets and signals stay inside

/// All rights to files that the kernel knows.
std::uint64_t all_rights(int abi) {
  std::uint64_t rights = (1 << 13) - 1;
  if (abi >= 2) rights |= 1 << 13;  // to link and rename between folders
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kDeviceControl;
  return rights;
}

class Rules {
 public:
  explicit Rules(int abi, bool network) : rights_(all_rights(abi)) {
    const RulesetFacts facts{rights_, network ? 0 : kNetwork, kScoped};
    const std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
    file_ = Descriptor(static_cast<int>(syscall(kCreate, &facts, size, 0)));
  }
  bool made() const { return bool(file_); }
  /// A path that is not there needs no rule.
  void allow(const std::string& path, std::uint64_t rights) {
    const Descriptor place(open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat facts {};
    if (!place || fstat(place.get(), &facts) != 0) return;
    if (!S_ISDIR(facts.st_mode)) rights &= kOfFiles;
    const PathRule rule{rights & rights_, place.get()};
    if (syscall(kAdd, file_.get(), 1, &rule, 0) != 0) failed_ = errno;
  }
  void allow_change(const std::string& path) { allow(path, rights_ & ~kMakeDevices & ~kDeviceControl); }
  int failed() const { return failed_; }
  Descriptor take() { return std::move(file_); }

 private:
  std::uint64_t rights_;
  Descriptor file_;
  int failed_ = 0;
};

void allow_system(Rules& rules) {
  for (const std::string& folder : system_folders()) rules.allow(folder, kRead);
  for (const std::string& part : public_parts("/etc")) rules.allow(part, kRead);
  // Of other processes' folders the kernel itself refuses what would need ptrace: their memory, environment and files.
  rules.allow("/proc", kReadFile | kReadFolder);
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/full"}) {
    rules.allow(device, kReadFile | kWriteFile | kTruncate | kDeviceControl);
  }
  for (const char* device : {"/dev/random", "/dev/urandom"}) rules.allow(device, kReadFile);
}

}  // namespace

int landlock_abi() {
  const long abi = syscall(kCreate, nullptr, 0, 1);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

Result<Descriptor> landlock_rules(const SandboxPolicy& policy, const SessionFolder& folder, const std::string& terminal,
                                  const std::vector<std::string>& writable) {
  Rules rules(landlock_abi(), policy.network);
  if (!rules.made()) return system_error("Landlock's rules", errno);
  allow_system(rules);
  std::error_code error;
  if (policy.network) rules.allow(std::filesystem::canonical("/etc/resolv.conf", error).string(), kReadFile);
  for (const std::string& path : policy.readable) rules.allow(path, kRead);
  for (const std::string& path : writable) rules.allow_change(path);
  rules.allow(folder.control(), kReadFile | kReadFolder);
  for (const auto& entry : std::filesystem::directory_iterator(folder.control(), error)) {
    if (entry.is_fifo(error)) rules.allow(entry.path().string(), kReadFile | kWriteFile);
  }
  for (const std::string& device : {std::string("/dev/tty"), terminal}) {
    if (!device.empty()) rules.allow(device, kReadFile | kWriteFile | kDeviceControl);
  }
  if (rules.failed() != 0) return system_error("a rule of Landlock's", rules.failed());
  return rules.take();
}

bool restrict_by_landlock(int rules) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(kRestrict, rules, 0) == 0;
}

}  // namespace parlance::agent
