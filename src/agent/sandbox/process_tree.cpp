// Reads /proc. Begin reading at processes_below.
#include "agent/sandbox/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <optional>
#include <string>

#include "agent/sandbox/descriptor.h"

namespace parlance::agent {

namespace {

std::string text_of(pid_t process, const char* file, std::size_t most = 4096) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", static_cast<int>(process), file);
  const Descriptor opened(::open(path, O_RDONLY | O_CLOEXEC));
  std::string text(most, '\0');
  const ssize_t size = opened ? ::read(opened.get(), text.data(), text.size()) : 0;
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

/// Of "4 (a name) S 1 …"; the name may have blanks and brackets.
bool read_facts(pid_t process, ProcessFacts& facts) {
  const std::string text = text_of(process, "stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return false;
  long parent = 0, group = 0, threads = 0, pages = 0;
  unsigned long long begun = 0;
  const int read =
      std::sscanf(text.c_str() + name_end + 1,
                  " %c %ld %ld %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu %*u %ld",
                  &facts.state, &parent, &group, &threads, &begun, &pages);
  if (read < 6) return false;
  facts.pid = process;
  facts.parent = static_cast<pid_t>(parent);
  facts.group = static_cast<pid_t>(group);
  facts.threads = static_cast<std::uint64_t>(threads);
  facts.begun = begun;
  facts.resident = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return true;
}

/// The children of one thread, by the list that most kernels have; unset: this one has none, or the thread has ended.
std::optional<std::vector<pid_t>> children_of(pid_t process, const char* thread) {
  char path[96];
  std::snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", static_cast<int>(process), thread);
  const Descriptor opened(::open(path, O_RDONLY | O_CLOEXEC));
  if (!opened) return std::nullopt;
  std::string text;
  char part[4096];
  for (ssize_t size = 0; (size = ::read(opened.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(size));
  std::vector<pid_t> children;
  char* at = nullptr;
  for (const char* from = text.c_str(); const long child = std::strtol(from, &at, 10); from = at)
    children.push_back(static_cast<pid_t>(child));
  return children;
}

/// The same of all its threads, each with what is below it. False: there are no such lists.
bool add_below(pid_t process, const std::set<pid_t>& known, std::vector<ProcessFacts>& found, std::set<pid_t>& seen) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", static_cast<int>(process));
  DIR* const threads = opendir(path);
  if (threads == nullptr) return true;  // it has ended
  bool has_lists = true;
  std::vector<pid_t> children;
  while (const dirent* thread = readdir(threads)) {
    if (thread->d_name[0] == '.') continue;
    const std::optional<std::vector<pid_t>> listed = children_of(process, thread->d_name);
    has_lists = has_lists && (listed || ::access(path, F_OK) != 0);
    if (listed) children.insert(children.end(), listed->begin(), listed->end());
  }
  closedir(threads);
  for (const pid_t child : children) {
    ProcessFacts facts;
    if (!seen.insert(child).second) continue;
    const bool is_known = known.contains(child);  // its facts would take as long as all its lists
    if (!is_known && !read_facts(child, facts)) continue;
    if (!is_known) found.push_back(facts);
    has_lists = add_below(child, known, found, seen) && has_lists;
  }
  return has_lists;
}

/// By the parents of all processes of the machine: none is missed, however many begin and end meanwhile.
std::vector<ProcessFacts> surely_below(pid_t root) {
  const std::vector<ProcessFacts> all = all_processes();
  std::set<pid_t> below{root};
  for (bool grew = true; grew;) {
    grew = false;
    for (const ProcessFacts& facts : all) {
      if (below.count(facts.parent) != 0 && below.insert(facts.pid).second) grew = true;
    }
  }
  std::vector<ProcessFacts> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const ProcessFacts& facts) { return facts.pid != root && below.count(facts.pid) != 0; });
  return found;
}

/// A system call that a process waits in: its number, and the arguments.
struct WaitingCall {
  long number = -1;  ///< -1: it waits in none
  std::uint64_t arguments[6]{};
};

WaitingCall waiting_call(pid_t process) {
  // "0 0x3 0x7ffe…"
  const std::string text = text_of(process, "syscall");
  WaitingCall call;
  char* end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  // The call that a stopped process was in can still be seen.
  if (end == text.c_str() || state_of(process) == 'T') return call;
  call.number = number;
  for (std::uint64_t& argument : call.arguments) argument = std::strtoull(end, &end, 16);
  return call;
}

bool read_memory_of(pid_t process, std::uint64_t from, void* into, std::size_t size) {
  const Descriptor memory(::open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  return read_memory(memory, from, into, size);
}

/// Of select().
std::vector<int> selected(pid_t process, const WaitingCall& call) {
  fd_set read{};
  const int count = static_cast<int>(std::min<std::uint64_t>(call.arguments[0], FD_SETSIZE));
  const std::size_t bytes = (static_cast<std::size_t>(count) + 63) / 64 * 8;  // as the kernel reads it
  std::vector<int> found;
  if (call.arguments[1] == 0 || !read_memory_of(process, call.arguments[1], &read, bytes)) return found;
  for (int each = 0; each < count; ++each)
    if (FD_ISSET(each, &read)) found.push_back(each);
  return found;
}

/// Of poll().
std::vector<int> polled(pid_t process, const WaitingCall& call) {
  constexpr std::uint64_t kMost = 256;
  std::vector<pollfd> all(static_cast<std::size_t>(std::min(call.arguments[1], kMost)));
  std::vector<int> found;
  if (!read_memory_of(process, call.arguments[0], all.data(), all.size() * sizeof(pollfd))) return found;
  for (const pollfd& one : all)
    if (one.fd >= 0 && (one.events & POLLIN) != 0) found.push_back(one.fd);
  return found;
}

/// Of epoll_wait(), by the kernel's list of what is in the set: lines as "tfd:       17 events:       19 data: …".
std::vector<int> in_epoll_set(pid_t process, const WaitingCall& call) {
  const std::string text = text_of(process, ("fdinfo/" + std::to_string(call.arguments[0])).c_str());
  std::vector<int> found;
  for (std::size_t at = text.find("tfd:"); at != std::string::npos; at = text.find("tfd:", at + 1)) {
    int descriptor = -1;
    unsigned events = 0;
    if (std::sscanf(text.c_str() + at, "tfd: %d events: %x", &descriptor, &events) == 2 && (events & EPOLLIN) != 0)
      found.push_back(descriptor);
  }
  return found;
}

/// The descriptors that it waits for something to read from; empty: it does something else.
std::vector<int> descriptors_it_reads(pid_t process) {
  const WaitingCall call = waiting_call(process);
  switch (call.number) {
    case SYS_read: return {static_cast<int>(call.arguments[0])};
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6: return selected(process, call);
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll: return polled(process, call);
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait: return in_epoll_set(process, call);
    default: return {};
  }
}

std::string path_of_descriptor(pid_t process, int descriptor) {
  return "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
}

std::string target_of_descriptor(pid_t process, int descriptor) {
  char target[64];
  const ssize_t size = readlink(path_of_descriptor(process, descriptor).c_str(), target, sizeof target);
  return size > 0 ? std::string(target, static_cast<std::size_t>(size)) : std::string();
}

/// False: it has ended, and its number may be another's.
bool signal_it(const ProcessFacts& facts, int signal) {
  const Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, facts.pid, 0)));
  ProcessFacts now;
  const bool is_same = process && read_facts(facts.pid, now) && now.begun == facts.begun && now.group == facts.group;
  return is_same && syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

/// The number behind a line's name in a file such as status; 0 if there is none.
std::uint64_t number_in(const std::string& text, const char* name) {
  const std::size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + std::strlen(name), nullptr, 10);
}

}  // namespace

std::uint64_t ticks_now() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const auto ticks = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * ticks +
         static_cast<std::uint64_t>(now.tv_nsec) * ticks / 1'000'000'000U;
}

std::vector<ProcessFacts> all_processes() {
  std::vector<ProcessFacts> all;
  DIR* folder = opendir("/proc");
  if (!folder) return all;
  while (const dirent* entry = readdir(folder)) {
    const int process = std::atoi(entry->d_name);
    ProcessFacts facts;
    if (process > 0 && read_facts(process, facts)) all.push_back(facts);
  }
  closedir(folder);
  return all;
}

std::vector<ProcessFacts> processes_below(pid_t root, const std::set<pid_t>& known) {
  std::vector<ProcessFacts> found;
  std::set<pid_t> seen{root};
  if (add_below(root, known, found, seen)) return found;
  found = surely_below(root);
  std::erase_if(found, [&](const ProcessFacts& facts) { return known.contains(facts.pid); });
  return found;
}

std::uint64_t proportional_memory(pid_t process) {
  return number_in(text_of(process, "smaps_rollup"), "\nPss:") * 1024;
}

pid_t outer_pid(pid_t root, pid_t inside) {
  for (const ProcessFacts& facts : processes_below(root)) {
    const std::string status = text_of(facts.pid, "status");
    const std::size_t at = status.find("\nNSpid:");
    if (at == std::string::npos) continue;
    const std::string line = status.substr(at + 1, status.find('\n', at + 1) - at - 1);
    if (std::atoi(line.c_str() + line.find_last_of("\t ") + 1) == inside) return facts.pid;
  }
  return 0;
}

char state_of(pid_t process) {
  ProcessFacts facts;
  return read_facts(process, facts) ? facts.state : '?';
}

bool waits_for_input(pid_t process, int pipe) {
  struct stat ours {};
  const bool is_known = ::fstat(pipe, &ours) == 0;
  for (const int descriptor : descriptors_it_reads(process)) {
    const std::string target = target_of_descriptor(process, descriptor);
    if (target.starts_with("/dev/pts/") || target == "/dev/tty") return true;
    struct stat its {};
    const bool is_there = is_known && ::stat(path_of_descriptor(process, descriptor).c_str(), &its) == 0;
    if (is_there && its.st_dev == ours.st_dev && its.st_ino == ours.st_ino) return true;
  }
  return false;
}

bool waits_at_terminal_input(pid_t process) {
  const WaitingCall call = waiting_call(process);
  return call.number == SYS_read && call.arguments[0] == 0 && target_of_descriptor(process, 0).starts_with("/dev/pts/");
}

void signal_all(pid_t root, int signal) {
  for (const ProcessFacts& facts : processes_below(root)) kill(facts.pid, signal);
}

bool signal_group_below(pid_t root, pid_t group, int signal) {
  constexpr int kMostRounds = 20;
  std::set<pid_t> reached;
  bool grew = true;
  for (int round = 0; grew && round < kMostRounds; ++round) {
    grew = false;
    for (const ProcessFacts& facts : processes_below(root))
      if (facts.group == group && facts.state != 'Z' && !reached.contains(facts.pid) && signal_it(facts, signal))
        grew = reached.insert(facts.pid).second;
  }
  return !reached.empty();
}

void kill_below(pid_t root) {
  // Who forks faster than we look is stopped before it is killed: else there are always new ones.
  std::set<pid_t> stopped;
  for (int round = 0; round < 1000; ++round) {
    bool grew = false;
    for (const ProcessFacts& facts : surely_below(root)) {
      if (facts.state == 'Z' || !stopped.insert(facts.pid).second) continue;
      grew = kill(facts.pid, SIGSTOP) == 0 || grew;
    }
    if (!grew) break;
  }
  for (const ProcessFacts& facts : surely_below(root)) kill(facts.pid, SIGKILL);
}

bool read_memory(const Descriptor& memory, std::uint64_t from, void* into, std::size_t size) {
  return memory && ::pread(memory.get(), into, size, static_cast<off_t>(from)) == static_cast<ssize_t>(size);
}

}  // namespace parlance::agent
