// Terminal: a pseudo-terminal that a program in the sandbox has as its own.
#pragma once
#include <string>

#include "agent/sandbox/descriptor.h"
#include "parlance/result.h"

namespace parlance::agent {

class Terminal {
 public:
  /// 120 columns, 40 lines, without echo. It ends lines as programs write them.
  /// Fails with: file.
  static Result<Terminal> open();

  int ours() const { return ours_.get(); }
  /// The program's end, for it alone: descriptors that are made of it share whether they wait.
  int theirs() const { return theirs_.get(); }
  /// The program's end for us, without waiting: what is written here comes out at ours() behind what the program wrote.
  int behind() const { return behind_.get(); }
  /// As it was at first, whatever programs have set; what was typed and not read is gone.
  void reset() const;
  /// Types a line. False: the program does not read, and too much is waiting.
  bool type(const std::string& line) const;
  /// The group of processes in the foreground; 0: there is none.
  int foreground() const;

 private:
  Descriptor ours_, theirs_, behind_;
};

}  // namespace parlance::agent
