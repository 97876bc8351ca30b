// OpenWatch: tells when somebody opens a file.
#pragma once
#include <sys/inotify.h>

#include <string>

#include "agent/sandbox/descriptor.h"
#include "agent/sandbox/pipe.h"

namespace parlance::agent {

/// Kept for many runs: the kernel takes some milliseconds to end one.   Threads: one.
class OpenWatch {
 public:
  OpenWatch() : events_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}
  /// From now on.
  void begin(const std::string& path) {
    works_ = events_ && inotify_add_watch(events_.get(), path.c_str(), IN_OPEN) >= 0;
    while (works_ && !read_some(events_.get()).empty()) continue;
    was_opened_ = false;
  }
  /// True also where nobody can tell.
  bool was_opened() {
    was_opened_ = was_opened_ || !works_ || !read_some(events_.get()).empty();
    return was_opened_;
  }

 private:
  Descriptor events_;
  bool works_ = false, was_opened_ = false;
};

}  // namespace parlance::agent
