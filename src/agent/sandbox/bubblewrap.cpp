// Makes bubblewrap's command line. Begin reading at arguments_of.
//
// The order counts: each mount covers what stands before it. What is left writable in memory (/, /dev, hidden folders)
// is made read-only at the end, as memory that files take is no process's and would escape the limit.
#include "agent/sandbox/bubblewrap.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "agent/sandbox/places.h"
#include "agent/sandbox/seccomp_filter.h"

namespace parlance::agent {

namespace {

constexpr int kFilterDescriptor = 3, kArgumentsDescriptor = 4, kInfoDescriptor = 5;

void add(std::vector<std::string>& arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
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

void show_etc(std::vector<std::string>& arguments, const SessionFolder& folder) {
  add(arguments, {"--ro-bind", "/etc", "/etc"});
  for (const std::string& hidden : private_entries("/etc")) {
    if (std::filesystem::is_directory(hidden)) {
      add(arguments, {"--tmpfs", hidden, "--remount-ro", hidden});
    } else {
      add(arguments, {"--ro-bind", folder.control() + "/empty", hidden});
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

/// What was named by a link is shown by that path too; what is shown already has its links.
void show_links(std::vector<std::string>& arguments, const SandboxPolicy& policy) {
  std::vector<std::string> shown = system_folders();
  shown.insert(shown.end(), {"/etc", "/var/tmp", "/proc", "/dev", policy.workspace});
  shown.insert(shown.end(), policy.readable.begin(), policy.readable.end());
  shown.insert(shown.end(), policy.writable.begin(), policy.writable.end());
  for (const bool writable : {false, true}) {  // what may be changed within what may be read comes behind it
    for (const auto& [link, target] : policy.links) {
      const auto is_there = [&](const std::string& place) { return is_within(link, place) || is_within(place, link); };
      const bool may_write = std::ranges::find(policy.writable, target) != policy.writable.end();
      if (may_write != writable || std::ranges::any_of(shown, is_there)) continue;
      add(arguments, {may_write ? "--bind" : "--ro-bind", target, link});
    }
  }
}

int user_inside() { return geteuid() == 0 ? 1000 : static_cast<int>(geteuid()); }
int group_inside() { return geteuid() == 0 ? 1000 : static_cast<int>(getegid()); }

Result<void> write_users(const SessionFolder& folder) {
  const std::string user = std::to_string(user_inside()), group = std::to_string(group_inside());
  const std::string nobody = "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n";
  const std::string users = "agent:x:" + user + ":" + group + "::/tmp/home:/bin/bash\n" + nobody;
  Result<void> done = write_file(folder.control() + "/passwd", users + "root:x:0:0::/root:/usr/sbin/nologin\n");
  if (done) done = write_file(folder.control() + "/group", "agent:x:" + group + ":\nroot:x:0:\nnogroup:x:65534:\n");
  if (done) done = write_file(folder.control() + "/empty", "");
  return done;
}

std::vector<std::string> arguments_of(const SandboxPolicy& policy, const SessionFolder& folder, const Launch& launch) {
  std::vector<std::string> arguments{"--unshare-all", "--unshare-user", "--die-with-parent"};
  if (policy.network) add(arguments, {"--share-net"});
  add(arguments, {"--uid", std::to_string(user_inside()), "--gid", std::to_string(group_inside())});
  add(arguments, {"--cap-drop", "ALL", "--hostname", "sandbox", "--seccomp", std::to_string(kFilterDescriptor)});
  add(arguments, {"--info-fd", std::to_string(kInfoDescriptor)});
  show_system(arguments);
  show_etc(arguments, folder);
  add(arguments, {"--proc", "/proc", "--dev", "/dev", "--bind", folder.state() + "/shm", "/dev/shm"});
  copy_devices(arguments, folder);
  add(arguments, {"--bind", folder.temporary(), "/tmp", "--dir", "/var", "--symlink", "/tmp", "/var/tmp"});
  add(arguments, {"--ro-bind", folder.control(), kControlInside});
  add(arguments, {"--bind", folder.state(), std::string(kControlInside) + "/state"});
  if (policy.network) show_resolver(arguments);
  for (const std::string& path : policy.readable) add(arguments, {"--ro-bind", path, path});
  for (const std::string& path : policy.writable) add(arguments, {"--bind", path, path});
  add(arguments, {"--bind", policy.workspace, policy.workspace});
  show_links(arguments, policy);
  // /proc, too: who was root could write what root may, such as /proc/sys/kernel/core_pattern.
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

}  // namespace

std::string bubblewrap_path() {
  const char* given = std::getenv("PATH");
  std::string folders = std::string(given ? given : "") + ":/usr/bin:/usr/local/bin";
  for (std::size_t from = 0; from < folders.size();) {
    const std::size_t to = std::min(folders.find(':', from), folders.size());
    const std::string path = folders.substr(from, to - from) + "/bwrap";
    if (path.front() == '/' && access(path.c_str(), X_OK) == 0) return path;
    from = to + 1;
  }
  return "";
}

Result<Started> start_in_bubblewrap(const SandboxPolicy& policy, const SessionFolder& folder, const Launch& launch) {
  if (Result<void> written = write_users(folder); !written) return written.error();
  Result<Descriptor> filter = filter_file(policy, launch);
  if (!filter) return filter.error();
  Result<Descriptor> options = arguments_file(arguments_of(policy, folder, launch));
  if (!options) return options.error();
  const std::string program = bubblewrap_path();
  std::vector<std::string> command{"bwrap", "--args", std::to_string(kArgumentsDescriptor), "--"};
  command.insert(command.end(), launch.command.begin(), launch.command.end());
  const TextList arguments(std::move(command)), environment(launch.environment);
  int info[2];
  if (pipe2(info, O_CLOEXEC) != 0) return system_error("a pipe", errno);
  const Descriptor read_end(info[0]);
  Descriptor write_end(info[1]);
  const pid_t child = fork();
  if (child < 0) return system_error("fork", errno);
  if (child == 0) {
    if (enter_session(launch, {filter->get(), options->get(), write_end.get()})) {
      limit_process(policy.limits, launch);
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
