// Makes bubblewrap's command line. Begin reading at arguments_of.
//
// The order counts: each mount covers what stands before it. What is left writable in memory (/, /dev, hidden folders)
// is made read-only at the end, as memory that files take is no process's and would escape the limit.
#include "agent/sandbox/bubblewrap.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "agent/sandbox/places.h"
#include "agent/sandbox/seccomp_filter.h"

namespace parlance::agent {

namespace {

constexpr int kFilterDescriptor = 3, kArgumentsDescriptor = 4, kInfoDescriptor = 5;
constexpr const char* kMemory = "/dev/shm";

void add(std::vector<std::string>& arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
}

/// The variables of commands are set by bubblewrap, which has none itself: LD_PRELOAD or LD_LIBRARY_PATH would make it
/// load, outside of the sandbox, what commands have put into the workspace.
void show_environment(std::vector<std::string>& arguments, const Launch& launch) {
  for (const std::string& variable : launch.environment) {
    const std::size_t at = variable.find('=');
    add(arguments, {"--setenv", variable.substr(0, at), variable.substr(at + 1)});
  }
}

void show_system(std::vector<std::string>& arguments) {
  for (const std::string& folder : system_folders()) {
    std::error_code error;
    if (std::filesystem::is_symlink(folder)) {
      add(arguments, {"--symlink", std::filesystem::read_symlink(folder, error).string(), folder});
    } else {
      add(arguments, {"--ro-bind", folder, folder});
    }
  }
}

/// Programs of /etc run from there as from a disk, and there is room for more than a copy of it.
bool has_room_in_memory() {
  constexpr std::uint64_t kRoom = std::uint64_t{32} << 20;
  struct statfs facts {};
  return statfs(kMemory, &facts) == 0 && facts.f_type == TMPFS_MAGIC && (facts.f_flags & ST_NOEXEC) == 0 &&
         facts.f_bavail * static_cast<std::uint64_t>(facts.f_bsize) >= kRoom;
}

void copy_etc(const SandboxPolicy& policy, SessionFolder& folder) {
  const auto shows = [](const std::string& path) { return is_within(kMemory, path) || is_within(path, kMemory); };
  const bool is_theirs = std::ranges::any_of(shown_paths(policy), shows);
  if (!is_theirs && folder.keep_etc_in(kMemory) && has_room_in_memory() && copy_public("/etc", folder.etc())) return;
  folder.keep_etc_here();
  copy_public("/etc", folder.etc());
}

/// What is named of /etc is mounted on something of the copy, which lacks it where it is private.
void make_place_for(const std::string& path, const SessionFolder& folder) {
  if (!is_within(path, "/etc")) return;
  const std::filesystem::path place = folder.etc() + path.substr(std::string_view("/etc").size());
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(place, error))) return;
  if (std::filesystem::is_directory(path, error)) {
    std::filesystem::create_directories(place, error);
  } else {
    std::filesystem::create_directories(place.parent_path(), error);
    const Descriptor made(open(place.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  }
}

/// Who is root could read a private file that is made while the agent runs, or that is renamed over a hidden one, with
/// which the mount that hid it goes. So root's commands have a copy of what was public at the start.
void show_etc(std::vector<std::string>& arguments, const SessionFolder& folder) {
  if (geteuid() == 0) {
    add(arguments, {"--ro-bind", folder.etc(), "/etc"});
  } else {
    add(arguments, {"--ro-bind", "/etc", "/etc"});
    for (const std::string& hidden : private_entries("/etc")) {
      if (std::filesystem::is_directory(hidden)) {
        add(arguments, {"--tmpfs", hidden, "--remount-ro", hidden});
      } else {
        add(arguments, {"--ro-bind", folder.control() + "/empty", hidden});
      }
    }
  }
  for (const char* name : {"passwd", "group"}) {
    add(arguments, {"--ro-bind", folder.control() + "/" + name, std::string("/etc/") + name});
  }
}

/// bubblewrap shows the machine's own devices, whose modes and times root's commands could change for all of it. So
/// they get copies, where a copy can be made and opened.
void copy_devices(std::vector<std::string>& arguments, const SessionFolder& folder) {
  if (geteuid() != 0) return;
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    const std::string device = std::string("/dev/") + name, copy = folder.control() + "/device." + name;
    struct stat facts {};
    if (stat(device.c_str(), &facts) != 0 || !S_ISCHR(facts.st_mode)) continue;
    const bool is_there = mknod(copy.c_str(), S_IFCHR | 0666, facts.st_rdev) == 0 || errno == EEXIST;
    if (!is_there || chmod(copy.c_str(), 0666) != 0) continue;
    const Descriptor opened(open(copy.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
    // A process without a terminal has no /dev/tty.
    if (opened || errno == ENXIO) add(arguments, {"--dev-bind", copy, device});
  }
}

/// What resolves names, which may lie in /run.
void show_resolver(std::vector<std::string>& arguments) {
  std::error_code error;
  const std::string target = std::filesystem::canonical("/etc/resolv.conf", error).string();
  if (!error && !is_within(target, "/etc")) add(arguments, {"--ro-bind", target, target});
}

/// Where commands leave files that are there at the next start.
constexpr std::string_view kKeptFolders[] = {"/tmp", "/dev/shm"};

bool is_directly_in_kept(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return std::ranges::find(kKeptFolders, parent) != std::ranges::end(kKeptFolders);
}

/// The folders in kKeptFolders that hold what is shown deeper in them. bubblewrap makes the folders around a mount, and
/// would follow a link of commands out of the sandbox to do so; where these are mounts themselves nobody can replace
/// them.
std::set<std::string> folders_of_mounts(const SandboxPolicy& policy) {
  std::vector<std::string> mounts = shown_paths(policy), shown = mounts;
  for (const auto& [link, target] : policy.links) {
    shown.push_back(link);
    if (std::ranges::find(mounts, target) != mounts.end()) mounts.push_back(link);
  }
  std::set<std::string> found;
  for (const std::string& path : shown) {
    for (const std::string_view kept : kKeptFolders) {
      const std::size_t end = is_within(path, kept) ? path.find('/', kept.size() + 1) : path.npos;
      if (end != path.npos) found.insert(path.substr(0, end));
    }
  }
  for (const std::string& path : mounts) found.erase(path);
  return found;
}

bool shows_in(const SandboxPolicy& policy, const std::string& folder) {
  return std::ranges::any_of(shown_paths(policy), [&](const std::string& path) { return is_within(path, folder); });
}

/// What was named by a link is shown by that path too; what is shown already has its links.
void show_links(std::vector<std::string>& arguments, const SandboxPolicy& policy) {
  const std::vector<std::string> mounted = shown_paths(policy);
  std::vector<std::string> shown = system_folders();
  shown.insert(shown.end(), {"/etc", "/var/tmp", "/proc", "/dev"});
  shown.insert(shown.end(), mounted.begin(), mounted.end());
  for (const bool writable : {false, true}) {  // what may be changed within what may be read comes behind it
    for (const auto& [link, target] : policy.links) {
      const auto is_there = [&](const std::string& place) { return is_within(link, place) || is_within(place, link); };
      const bool may_write = is_theirs(policy, target), has_mount = std::ranges::find(mounted, target) != mounted.end();
      if (may_write != writable || std::ranges::any_of(shown, is_there)) continue;
      if (!has_mount && is_directly_in_kept(link)) continue;  // commands could put another in its place
      add(arguments, {has_mount ? may_write ? "--bind" : "--ro-bind" : "--symlink", target, link});
    }
  }
}

int user_inside() { return geteuid() == 0 ? 1000 : static_cast<int>(geteuid()); }
int group_inside() { return geteuid() == 0 ? 1000 : static_cast<int>(getegid()); }

std::vector<std::string> arguments_of(const SandboxPolicy& policy, const SessionFolder& folder, const Launch& launch) {
  std::vector<std::string> arguments{"--unshare-all", "--unshare-user", "--die-with-parent"};
  if (policy.network) add(arguments, {"--share-net"});
  add(arguments, {"--uid", std::to_string(user_inside()), "--gid", std::to_string(group_inside())});
  add(arguments, {"--cap-drop", "ALL", "--hostname", "sandbox", "--seccomp", std::to_string(kFilterDescriptor)});
  add(arguments, {"--info-fd", std::to_string(kInfoDescriptor)});
  show_environment(arguments, launch);
  show_system(arguments);
  show_etc(arguments, folder);
  add(arguments, {"--proc", "/proc", "--dev", "/dev", "--bind", folder.shared_memory(), "/dev/shm"});
  copy_devices(arguments, folder);
  add(arguments, {"--bind", folder.temporary(), "/tmp", "--dir", "/var"});
  if (shows_in(policy, "/var/tmp"))
    add(arguments, {"--dir", "/var/tmp"});  // bubblewrap makes no folder of a mount behind a link
  else
    add(arguments, {"--symlink", "/tmp", "/var/tmp"});
  add(arguments, {"--ro-bind", folder.control(), kControlInside});
  add(arguments, {"--bind", folder.state(), std::string(kControlInside) + "/state"});
  if (!launch.home.empty()) add(arguments, {"--bind", launch.home, kHomeInside});
  if (policy.network) show_resolver(arguments);
  const std::set<std::string> around = folders_of_mounts(policy);
  for (const std::string& path : around) add(arguments, {"--tmpfs", path});
  for (const std::string& path : policy.readable) add(arguments, {"--ro-bind", path, path});
  for (const std::string& path : changeable(policy)) add(arguments, {"--bind", path, path});
  show_links(arguments, policy);
  // /proc, too: who was root could write what root may, such as /proc/sys/kernel/core_pattern.
  for (const std::string& path : around) add(arguments, {"--remount-ro", path});
  for (const char* folder : {"/proc", "/dev", "/"}) add(arguments, {"--remount-ro", folder});
  add(arguments, {"--chdir", launch.folder});
  return arguments;
}

/// A file without a name, which bubblewrap reads.
Result<Descriptor> file_of(const char* data, std::size_t size) {
  Descriptor file(memfd_create("sandbox", MFD_CLOEXEC));
  if (!file || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) {
    return system_error("a file for bubblewrap", errno);
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

Result<Descriptor> filter_file(const SandboxPolicy& policy, const Launch& launch) {
  SeccompChoice choice;
  choice.network = policy.network;
  choice.unmapped_memory = launch.memory_is_counted;
  const std::vector<sock_filter> program = seccomp_program(choice);
  return file_of(reinterpret_cast<const char*>(program.data()), program.size() * sizeof(sock_filter));
}

/// The options, which nobody needs to see in a list of processes.
Result<Descriptor> arguments_file(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text.append(argument).push_back('\0');
  return file_of(text.data(), text.size());
}

/// What bubblewrap writes of its first process in the namespace: {"child-pid": 17}. -1: it does not start.
pid_t read_first(int info) {
  constexpr int kMostWait = 10000;
  constexpr std::string_view kName = "\"child-pid\":";
  std::string text;
  while (text.find('}') == std::string::npos) {
    pollfd watched{info, POLLIN, 0};
    char part[256];
    if (poll(&watched, 1, kMostWait) <= 0) break;
    const ssize_t size = ::read(info, part, sizeof part);
    if (size <= 0) break;
    text.append(part, static_cast<std::size_t>(size));
  }
  const std::size_t at = text.find(kName);
  return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + kName.size());
}

/// In the child. bubblewrap's mounts are slaves of ours: what somebody mounts later below a folder that may only be
/// read would be there with all its rights. Below mounts that are private nothing comes later. Others than root may
/// not.
void leave_shared_mounts() {
  if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0) return;
  const bool is_private = mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (!is_private && errno != EINVAL) _exit(127);  // EINVAL: a chroot, in which bubblewrap fails with its own words
}

/// Where programs are looked for: relative folders of PATH are left out, as the agent's own may be one of theirs.
std::vector<std::string> program_folders() {
  const char* given = std::getenv("PATH");
  const std::string all = std::string(given ? given : "") + ":/usr/bin:/usr/local/bin";
  std::vector<std::string> folders;
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t to = std::min(all.find(':', from), all.size());
    if (all[from] == '/') folders.push_back(all.substr(from, to - from));
    from = to + 1;
  }
  return folders;
}

}  // namespace

Result<std::string> find_bubblewrap(const SandboxPolicy& policy) {
  constexpr const char* kMend = "apt install bubblewrap, or dnf install bubblewrap";
  std::string theirs;
  for (const std::string& folder : program_folders()) {
    std::error_code error;
    const std::string named = folder + "/bwrap", place = std::filesystem::canonical(folder, error).string();
    const std::string path = std::filesystem::canonical(named, error).string();
    if (error || access(path.c_str(), X_OK) != 0) continue;
    const auto is_safe = [&policy](const std::string& each) { return !is_theirs(policy, each); };
    if (is_safe(named) && is_safe(place) && is_safe(path)) return path;
    theirs = named;
  }
  if (theirs.empty()) return Error(ErrorCode::usage, "bubblewrap is not installed").hint(kMend);
  return Error(ErrorCode::usage, "commands may change the only bwrap that there is: " + theirs).hint(kMend);
}

Result<void> prepare_bubblewrap(const SandboxPolicy& policy, SessionFolder& folder) {
  const std::string user = std::to_string(user_inside()), group = std::to_string(group_inside());
  const std::string nobody = "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n";
  const std::string users = "agent:x:" + user + ":" + group + "::/tmp/home:/bin/bash\n" + nobody;
  Result<void> done = write_file(folder.control() + "/passwd", users + "root:x:0:0::/root:/usr/sbin/nologin\n");
  if (done) done = write_file(folder.control() + "/group", "agent:x:" + group + ":\nroot:x:0:\nnogroup:x:65534:\n");
  if (done) done = write_file(folder.control() + "/empty", "");
  if (done) mkdir((folder.control() + "/home").c_str(), 0700);  // where a home is mounted
  if (!done || geteuid() != 0) return done;
  copy_etc(policy, folder);
  for (const std::string& path : policy.readable) make_place_for(path, folder);
  return {};
}

Result<Started> start_in_bubblewrap(const std::string& program, const SandboxPolicy& policy,
                                    const SessionFolder& folder, const Launch& launch) {
  Result<Descriptor> filter = filter_file(policy, launch);
  if (!filter) return filter.error();
  Result<Descriptor> options = arguments_file(arguments_of(policy, folder, launch));
  if (!options) return options.error();
  std::vector<std::string> command{"bwrap", "--args", std::to_string(kArgumentsDescriptor), "--"};
  command.insert(command.end(), launch.command.begin(), launch.command.end());
  const TextList arguments(std::move(command)), environment({});  // theirs are among its options
  int info[2];
  if (pipe2(info, O_CLOEXEC) != 0) return system_error("a pipe", errno);
  const Descriptor read_end(info[0]);
  Descriptor write_end(info[1]);
  const pid_t child = fork();
  if (child < 0) return system_error("fork", errno);
  if (child == 0) {
    if (enter_session(launch, {filter->get(), options->get(), write_end.get()})) {
      limit_process(policy.limits, launch);
      leave_shared_mounts();
      execve(program.c_str(), arguments.get(), environment.get());
    }
    _exit(127);
  }
  Started started;
  started.root = child;
  write_end.close();
  started.first = read_first(read_end.get());
  return started;
}

}  // namespace parlance::agent
