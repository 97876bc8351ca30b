// Lines of file descriptors.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "parlance/bulk.h"

namespace parlance {
namespace {

constexpr std::size_t kPiece = 64 << 10;  ///< what a pipe gives at once

/// Would a read return at once?
bool is_ready(int file) {
  pollfd asked{file, POLLIN, 0};
  return ::poll(&asked, 1, 0) > 0;
}

/// One read of at most `room` bytes; how many there were, or -1.
ssize_t read_some(int file, std::string& text, std::size_t room) {
  const std::size_t size = text.size();
  text.resize(size + room);
  ssize_t got = 0;
  do {
    got = ::read(file, text.data() + size, room);
  } while (got < 0 && errno == EINTR);
  text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return got;
}

Error io_error(std::string_view what) {
  return Error(ErrorCode::file, std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

/// Reads on only while a read would return at once. A pipe that gives a line and then waits for the answer gets it: the
/// batch is what has come. The room does not grow with a long line: it would be filled with zeros for each piece.
BulkInput bulk_input(int file) {
  return [file](std::string& text) -> Result<bool> {
    const std::size_t begin = text.size();
    do {
      const ssize_t got = read_some(file, text, kPiece);
      if (got < 0) return io_error("reading the input");
      if (got == 0) return false;
    } while (text.size() - begin < kPiece && is_ready(file));
    return true;
  };
}

BulkOutput bulk_output(int file) {
  return [file](std::string_view rest) -> Result<void> {
    while (!rest.empty()) {
      const ssize_t done = ::write(file, rest.data(), rest.size());
      if (done == 0) errno = EIO;  // what takes nothing now would be asked for ever
      if (done <= 0 && errno != EINTR) return io_error("writing the results");
      if (done > 0) rest.remove_prefix(static_cast<std::size_t>(done));
    }
    return {};
  };
}

}  // namespace parlance
