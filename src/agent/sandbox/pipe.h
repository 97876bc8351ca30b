// Pipe: both ends of a pipe, and reading without waiting.
#pragma once
#include <string>

#include "agent/sandbox/descriptor.h"
#include "parlance/result.h"

namespace parlance::agent {

struct Pipe {
  Descriptor reader, writer;

  /// `ours` is the end that we keep: it does not wait.
  /// Fails with: file.
  enum class Ours : bool { reader, writer };
  static Result<Pipe> open(Ours ours = Ours::reader);
};

/// What can be read now; "" if there is nothing, or if it has ended.
std::string read_some(int from);

}  // namespace parlance::agent
