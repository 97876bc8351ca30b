// ControlGroup: the kernel's own limits over all processes of a sandbox together, where we may set them.
//
// Mostly root may. Root needs them most: no other limit on the number of its processes binds it (RLIMIT_NPROC does
// not), and who forks without end is faster than a watchdog.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "agent/sandbox/policy.h"

namespace parlance::agent {

class ControlGroup {
 public:
  ControlGroup() = default;
  /// New groups for `processes` and `memory`; as many as this system lets us have, perhaps none.
  static ControlGroup open(std::uint64_t processes, std::uint64_t memory);
  ControlGroup(ControlGroup&& other) noexcept
      : folders_(std::move(other.folders_)), limits_memory_(other.limits_memory_) {
    other.folders_.clear();
  }
  ControlGroup& operator=(ControlGroup&& other) noexcept {
    std::swap(folders_, other.folders_);
    std::swap(limits_memory_, other.limits_memory_);
    return *this;
  }
  /// Its processes must have ended.
  ~ControlGroup();

  /// Files into which a process writes 0 to become a member: between fork() and execve(), so as paths.
  std::vector<std::string> members() const;
  bool limits_memory() const { return limits_memory_; }
  /// How many processes the kernel has ended for want of memory.
  std::uint64_t ended_for_memory() const;

 private:
  std::vector<std::string> folders_;
  bool limits_memory_ = false;
};

}  // namespace parlance::agent
