// Inputs by file descriptor; see input.h.
#include "cli/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "cli/archive.h"
#include "cli/prompt_options.h"

namespace parlance::cli {

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
    if (done == 0) errno = EIO;  // what takes nothing now would be asked for ever
    if (done <= 0 && errno != EINTR) return false;
    if (done > 0) bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

namespace {

/// A small archive can hold any amount; a line of JSONL has the same limit.
constexpr std::size_t kMostUnpacked = std::size_t{256} << 20;

/// As much as a text may have.
constexpr std::size_t kMostOfStdin = std::size_t{1} << 31;

/// Who reads standard input, for as long as the program runs.
Result<void> claim_stdin(const char* what) {
  static const char* taken = nullptr;
  if (taken == nullptr) {
    taken = what;
    return {};
  }
  return usage(std::string("standard input cannot be both ") + taken + " and " + what, "name a file for one of them");
}

/// Calls `take` with each piece of the file, until it returns false or there is no more; 0 or the failure.
template <typename Take>
int for_each_piece(int file, Take take) {
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t size = ::read(file, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return size < 0 ? errno : 0;
    if (!take({buffer.data(), static_cast<std::size_t>(size)})) return 0;
  }
}

/// The whole of a packed file through its filter.
Result<void> unpack(int file, const std::string& path, const Pour& pour) {
  Result<std::unique_ptr<Filter>> filter = make_filter(packing_of(path), Direction::unpack, path);
  if (!filter) return filter.error();
  Result<void> fed;
  bool wanted = true;
  const Pour watched = [&](std::string_view piece) { return wanted = pour(piece); };
  const int failed = for_each_piece(file, [&](std::string_view bytes) {
    fed = (*filter)->feed(bytes, watched);
    return fed.has_value() && wanted;
  });
  if (failed != 0) return file_error(path, failed);
  return fed && wanted ? (*filter)->finish(watched) : fed;
}

Result<int> open_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file_error(path, errno);
  return file;
}

Result<std::string> read_packed(const std::string& path) {
  const Result<int> file = open_file(path);
  if (!file) return file.error();
  std::string text;
  bool fits = true;
  const Result<void> done = unpack(*file, path, [&](std::string_view piece) {
    fits = text.size() + piece.size() <= kMostUnpacked;
    if (fits) text += piece;
    return fits;
  });
  ::close(*file);
  if (!done) return done.error();
  if (!fits)
    return Error(ErrorCode::file, path + ": larger than " + std::to_string(kMostUnpacked >> 20) + " MiB unpacked");
  return text;
}

/// By its descriptor: /dev/stdin would open the file or pipe anew, which another user may own.
Result<std::string> read_stdin() {
  std::string text;
  bool fits = true;
  const int failed = for_each_piece(STDIN_FILENO, [&](std::string_view piece) {
    fits = text.size() + piece.size() < kMostOfStdin;
    if (fits) text += piece;
    return fits;
  });
  if (failed != 0) return file_error("standard input", failed);
  if (!fits) return Error(ErrorCode::file, "standard input: 2 GiB or more");
  return text;
}

}  // namespace

namespace {
int streamed = -1;
}  // namespace

int streamed_input() { return streamed; }

std::string input_name(const std::string& path) { return is_stdin(path) ? "<stdin>" : path; }

namespace {

using FileId = std::pair<dev_t, ino_t>;

/// Of a file; none for pipes and the like, which may be read and written at once.
std::optional<FileId> file_id(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  return FileId{found.st_dev, found.st_ino};
}

std::vector<FileId>& files_read() {
  static std::vector<FileId> all;
  return all;
}

}  // namespace

bool has_read(const std::string& path) {
  const std::optional<FileId> id = file_id(path);
  return id && std::ranges::find(files_read(), *id) != files_read().end();
}

Result<std::string> read_input(const std::string& path, const char* what) {
  if (!is_stdin(path)) {
    if (const std::optional<FileId> id = file_id(path)) files_read().push_back(*id);
  }
  if (!is_stdin(path)) return packing_of(path) == Packing::none ? read_file(path) : read_packed(path);
  if (Result<void> claimed = claim_stdin(what); !claimed) return claimed.error();
  return read_stdin();
}

struct InputStream::State {
  std::string path;
  int file = -1;    ///< what is read from
  int packed = -1;  ///< the archive
  std::thread unpacking;
  Result<void> unpacked;

  ~State() { stop(); }
  void stop() {
    streamed = -1;
    if (file >= 0 && file != STDIN_FILENO) ::close(file);  // the thread's next write fails
    file = -1;
    if (unpacking.joinable()) unpacking.join();
    if (packed >= 0) ::close(packed);
    packed = -1;
  }
  /// A reader that ends early breaks the pipe: that is no failure, and no signal.
  void unpack_into(int pipe) {
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, nullptr);
    unpacked = unpack(packed, path, [pipe](std::string_view piece) { return write_all(pipe, piece); });
    ::close(pipe);
  }
};

InputStream::InputStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
InputStream::InputStream(InputStream&&) noexcept = default;
InputStream& InputStream::operator=(InputStream&&) noexcept = default;
InputStream::~InputStream() = default;

int InputStream::file() const { return state_->file; }

Result<InputStream> InputStream::open(const std::string& path, const char* what) {
  auto state = std::make_unique<State>();
  state->path = path;
  if (is_stdin(path)) {
    if (Result<void> claimed = claim_stdin(what); !claimed) return claimed.error();
    streamed = state->file = STDIN_FILENO;
    return InputStream(std::move(state));
  }
  const Result<int> file = open_file(path);
  if (!file) return file.error();
  streamed = *file;
  if (packing_of(path) == Packing::none) {
    state->file = *file;
    return InputStream(std::move(state));
  }
  state->packed = *file;
  if (auto known = make_filter(packing_of(path), Direction::unpack, path); !known) return known.error();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return file_error(path, errno);
  state->file = ends[0];
  state->unpacking = std::thread([raw = state.get(), pipe = ends[1]] { raw->unpack_into(pipe); });
  return InputStream(std::move(state));
}

Result<void> InputStream::finish() {
  state_->stop();
  return state_->unpacked;
}

}  // namespace parlance::cli
