// Both versions of control groups, as far as they are mounted where systemd mounts them.
#include "agent/sandbox/control_group.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace parlance::agent {

namespace {

constexpr std::string_view kGroupPrefix = "parlance-agent-";

/// A place where groups are made, and what its files for our limits are called; nullptr: it has no such limit.
struct Place {
  const char* folder;
  const char* processes;
  const char* memory;
};
constexpr Place kPlaces[] = {
    {"/sys/fs/cgroup", "pids.max", "memory.max"},
    {"/sys/fs/cgroup/pids", "pids.max", nullptr},
    {"/sys/fs/cgroup/memory", nullptr, "memory.limit_in_bytes"},
};

bool write_number(const std::string& path, std::uint64_t number) {
  std::ofstream file(path);
  file << number;
  file.close();
  return file.good();
}

/// Groups of agents that were killed. One with processes in it does not go away.
void remove_left_ones(const char* folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (name.compare(0, kGroupPrefix.size(), kGroupPrefix) != 0) continue;
    const int owner = std::atoi(name.c_str() + kGroupPrefix.size());
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) rmdir(each->path().c_str());
  }
}

}  // namespace

ControlGroup ControlGroup::open(std::uint64_t processes, std::uint64_t memory) {
  static std::atomic<int> count{0};
  const std::string name = "/" + std::string(kGroupPrefix) + std::to_string(getpid()) + "-" + std::to_string(++count);
  ControlGroup group;
  for (const Place& place : kPlaces) {
    const std::string folder = place.folder + name;
    // The first place is a file system of memory where the first version is mounted below it.
    const bool is_place = access((std::string(place.folder) + "/cgroup.procs").c_str(), W_OK) == 0;
    if (!is_place) continue;
    remove_left_ones(place.folder);
    if (mkdir(folder.c_str(), 0755) != 0) continue;
    const bool one = place.processes && write_number(folder + "/" + place.processes, processes);
    const bool other = place.memory && write_number(folder + "/" + place.memory, memory);
    group.limits_memory_ = group.limits_memory_ || other;
    if (one || other) {
      group.folders_.push_back(folder);
    } else {
      rmdir(folder.c_str());
    }
  }
  return group;
}

ControlGroup::~ControlGroup() {
  for (const std::string& folder : folders_) {
    // What has ended is a member for some moments more.
    for (int attempt = 0; attempt < 100 && rmdir(folder.c_str()) != 0 && errno == EBUSY; ++attempt) usleep(2000);
  }
}

std::vector<std::string> ControlGroup::members() const {
  std::vector<std::string> files;
  for (const std::string& folder : folders_) files.push_back(folder + "/cgroup.procs");
  return files;
}

std::uint64_t ControlGroup::ended_for_memory() const {
  std::uint64_t sum = 0;
  for (const std::string& folder : folders_) {
    for (const char* name : {"/memory.events", "/memory.oom_control"}) {
      std::ifstream file(folder + name);
      std::string word;
      std::uint64_t number = 0;
      while (file >> word >> number) sum += word == "oom_kill" ? number : 0;
    }
  }
  return sum;
}

}  // namespace parlance::agent
