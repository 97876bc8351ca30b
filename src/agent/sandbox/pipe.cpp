// The calls around a pipe.
#include "agent/sandbox/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "agent/sandbox/session_folder.h"

namespace parlance::agent {

Result<Pipe> Pipe::open(Ours ours) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("a pipe", errno);
  Pipe made{Descriptor(ends[0]), Descriptor(ends[1])};
  const int kept = ours == Ours::reader ? ends[0] : ends[1];
  if (fcntl(kept, F_SETFL, O_NONBLOCK) != 0) return system_error("a pipe", errno);
  return made;
}

std::string read_some(int from) {
  char part[65536];
  const ssize_t size = ::read(from, part, sizeof part);
  return {part, size > 0 ? static_cast<std::size_t>(size) : 0};
}

}  // namespace parlance::agent
