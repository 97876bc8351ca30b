// Sandbox: starts programs that can change only the workspace, see only what they need, and end when we end.
//
// Sandbox::open chooses what works on this machine, after a trial. Begin reading here, then at bubblewrap.cpp.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/sandbox/control_group.h"
#include "agent/sandbox/launch.h"
#include "agent/sandbox/policy.h"
#include "agent/sandbox/session_folder.h"
#include "agent/sandbox/watchdog.h"
#include "parlance/result.h"

namespace parlance::agent {

/// A program in a sandbox with all that descends from it. The destructor ends them all.
/// It must be started by a thread that lives as long as it does: bubblewrap ends with that thread.
class SandboxedProcess {
 public:
  SandboxedProcess(Started started, ControlGroup group, const SandboxLimits& limits);
  SandboxedProcess(const SandboxedProcess&) = delete;
  SandboxedProcess& operator=(const SandboxedProcess&) = delete;
  ~SandboxedProcess();

  /// The process of ours that all others descend from.
  pid_t root() const { return started_.root; }
  /// A descriptor that is readable once the program has ended.
  int end() const { return end_.get(); }
  /// The exit status of the program once it has ended, as a shell gives it; 137 where it was ended with all others.
  std::optional<int> status();
  /// Ends all of them, and waits until they have.
  void kill();
  /// What the limits have ended since the last call, as sentences.
  std::vector<std::string> take_notes();

 private:
  void begin_kill();
  void kill_root_last();

  Started started_;
  ControlGroup group_;
  Descriptor end_;
  Descriptor first_;
  std::uint64_t ended_for_memory_ = 0;
  std::optional<int> status_;
  std::vector<std::string> last_notes_;
  std::unique_ptr<Watchdog> watchdog_;
};

class Sandbox {
 public:
  /// The best kind of sandbox that a trial finds to hold: bubblewrap, else Landlock.
  /// Fails with: usage where neither holds, with the reason and the mend of each, and as checked() does; file.
  static Result<Sandbox> open(const SandboxPolicy& policy);
  /// The same with this kind alone. `none` confines nothing, and there is no trial.
  static Result<Sandbox> open(const SandboxPolicy& policy, SandboxKind kind);

  SandboxKind kind() const { return kind_; }
  const SandboxPolicy& policy() const { return policy_; }
  const SessionFolder& folder() const { return *folder_; }
  /// Why a better kind was not taken; "" if this is the best.
  const std::string& reason() const { return reason_; }
  /// The paths that programs in it have for the folders of the session.
  std::string control_inside() const;
  std::string temporary_inside() const;
  std::vector<std::string> environment() const;
  /// A home that a program of this name has to itself (Launch::home), with what it left there; commands cannot reach
  /// it. Fails with: file.
  Result<std::string> home_of(const std::string& name) const;
  /// The path that the program has for it.
  std::string home_inside(const std::string& home) const;
  /// What RLIMIT_NPROC should be in it: the user's processes outside may count, too.
  std::uint64_t process_limit() const;

  /// Starts a program.
  /// Fails with: file.
  Result<std::unique_ptr<SandboxedProcess>> start(const Launch& launch) const;

 private:
  Sandbox(SandboxKind kind, SandboxPolicy policy, std::shared_ptr<SessionFolder> folder)
      : kind_(kind), policy_(std::move(policy)), folder_(std::move(folder)) {}
  static Result<Sandbox> open_checked(const SandboxPolicy& policy, SandboxKind kind);

  SandboxKind kind_;
  SandboxPolicy policy_;
  std::shared_ptr<SessionFolder> folder_;
  std::string bubblewrap_;  ///< its program, which is not looked for again once commands have run
  std::string reason_;
};

}  // namespace parlance::agent
