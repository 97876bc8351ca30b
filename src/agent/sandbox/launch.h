// Starts a program in a sandbox: what both kinds have in common.
#pragma once
#include <sys/types.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "agent/sandbox/descriptor.h"
#include "agent/sandbox/policy.h"
#include "agent/sandbox/session_folder.h"
#include "parlance/result.h"

namespace parlance::agent {

/// A program to start. Its paths are those that it sees (Sandbox::inside).
struct Launch {
  std::vector<std::string> command{};
  std::vector<std::string> environment{};  ///< NAME=value
  std::string folder{};                    ///< where it starts
  std::string home{};                      ///< a folder that it may change, and no other may: our path; "": none
  int in = -1;                             ///< what becomes its descriptors 0, 1, 2
  int out = -1;
  int err = -1;
  std::vector<std::string> groups{};  ///< files of control groups in which to write 0
  bool memory_is_counted = false;     ///< by one of these groups, and not by the watchdog alone
  bool terminal = false;              ///< `in` is a terminal, which becomes the one of its own session
};

/// Texts as execve() takes them: made before a fork, after which nothing may ask for memory.
class TextList {
 public:
  explicit TextList(std::vector<std::string> texts) : texts_(std::move(texts)) {
    for (std::string& text : texts_) pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
  }
  TextList(const TextList&) = delete;
  TextList& operator=(const TextList&) = delete;
  ~TextList() = default;
  char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

/// A started sandbox: its first process, which all others descend from, and a socket by which it is ended: by a byte,
/// or when it closes.
struct Started {
  pid_t root = -1;
  pid_t first = -1;       ///< the first process of its PID namespace, which takes all others with it; -1: it has none
  Descriptor lifeline{};  ///< none with bubblewrap, which ends by itself when we do
};

/// In a child: gives these descriptors, of which there may be 16, the numbers from `first` on, and closes all others.
/// One that is -1 has none.
bool keep_only(const int* given, int count, int first);
/// In the child, between fork() and execve(): a session of its own, the descriptors 0, 1 and 2, and none of ours
/// besides `kept`, which become 3, 4…
bool enter_session(const Launch& launch, std::initializer_list<int> kept);
/// Runs the calling thread before all others where we may (as root), else it stays as it is: who ends processes must
/// not wait for these. What it starts does not inherit this.
void prefer_this_thread();
/// The limits: those that each process has by itself, and the control groups.
void limit_process(const SandboxLimits& limits, const Launch& launch);

}  // namespace parlance::agent
