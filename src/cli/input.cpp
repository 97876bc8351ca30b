// Inputs by file descriptor; see input.h.
#include "cli/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/options/prompt_options.h"

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

/// Reads the next piece, at most as much as fits; 0 or less at the end and after a failure.
using ReadPiece = std::function<ssize_t(std::span<char> into)>;

ReadPiece pieces_of(int file) {
  return [file](std::span<char> into) { return ::read(file, into.data(), into.size()); };
}

/// Calls `take` with each piece of the input, until it returns false or there is no more; 0 or the failure.
template <typename Take>
int for_each_piece(const ReadPiece& read, Take take) {
  std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t size = read(buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return size < 0 ? errno : 0;
    if (!take({buffer.data(), static_cast<std::size_t>(size)})) return 0;
  }
}

/// The whole of a packed file through its filter. `name` is for errors.
Result<void> unpack(const ReadPiece& read, Filter& filter, const std::string& name, const Pour& pour) {
  Result<void> fed;
  bool wanted = true;
  const Pour watched = [&](std::string_view piece) { return wanted = pour(piece); };
  const int failed = for_each_piece(read, [&](std::string_view bytes) {
    fed = filter.feed(bytes, watched);
    return fed.has_value() && wanted;
  });
  if (failed != 0) return file_error(name, failed);
  return fed && wanted ? filter.finish(watched) : fed;
}

Result<int> open_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return file_error(path, errno);
  return file;
}

Result<std::string> read_packed(const std::string& path) {
  const Result<int> file = open_file(path);
  if (!file) return file.error();
  const Result<std::unique_ptr<Filter>> filter = make_filter(packing_of(path), Direction::unpack, path);
  if (!filter) return filter.error();
  std::string text;
  bool fits = true;
  const Result<void> done = unpack(pieces_of(*file), **filter, path, [&](std::string_view piece) {
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
  const int failed = for_each_piece(pieces_of(STDIN_FILENO), [&](std::string_view piece) {
    fits = text.size() + piece.size() < kMostOfStdin;
    if (fits) text += piece;
    return fits;
  });
  if (failed != 0) return file_error("standard input", failed);
  if (!fits) return Error(ErrorCode::file, "standard input: 2 GiB or more");
  return text;
}

}  // namespace

std::string input_name(const std::string& path) { return is_stdin(path) ? "<stdin>" : path; }

namespace {

using FileId = std::pair<dev_t, ino_t>;

/// Of a file; none for pipes and the like, which may be read and written at once.
std::optional<FileId> file_id(int status, const struct stat& found) {
  if (status != 0 || !S_ISREG(found.st_mode)) return {};
  return FileId{found.st_dev, found.st_ino};
}
std::optional<FileId> file_id(const std::string& path) {
  struct stat found {};
  return file_id(::stat(path.c_str(), &found), found);
}
std::optional<FileId> file_id(int file) {
  struct stat found {};
  return file_id(::fstat(file, &found), found);
}

std::vector<FileId>& files_read() {
  static std::vector<FileId> all;
  return all;
}

bool was_read(const std::optional<FileId>& id) {
  return id && std::ranges::find(files_read(), *id) != files_read().end();
}

/// Files of a model's folder, among which outputs may stand too.
bool is_of_model(const std::string& name) {
  constexpr std::string_view kBegins[] = {"tokenizer", "chat_template", "special_tokens", "added_tokens",
                                          "vocab",     "merges",        "tekken",         "config"};
  constexpr std::string_view kEnds[] = {".model", ".gguf", ".safetensors", ".tiktoken", "_config.json"};
  return std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); }) ||
         std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

void count_as_read(const std::string& path) {
  if (const std::optional<FileId> id = file_id(path)) files_read().push_back(*id);
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(path, none)) {
    if (!is_of_model(entry.path().filename().string())) continue;
    if (const std::optional<FileId> id = file_id(entry.path().string())) files_read().push_back(*id);
  }
}

bool has_read(const std::string& path) { return was_read(file_id(path)); }
bool has_read(int file) { return was_read(file_id(file)); }

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
  int file = -1;                         ///< what is read from
  int packed = -1;                       ///< the archive
  int watched = -1;                      ///< what was opened, which stays open: other threads ask how far it was read
  std::array<int, 2> ending = {-1, -1};  ///< a pipe; the thread ends once its second end is closed
  std::thread unpacking;
  std::unique_ptr<Filter> filter;
  std::string begin;     ///< of the archive, that was read already
  bool is_left = false;  ///< nobody wants the rest
  Result<void> unpacked;

  ~State() {
    stop();
    close(watched);
  }
  void stop() {
    close(file);  // the thread's next write fails
    close(ending[1]);
    if (unpacking.joinable()) unpacking.join();
    close(ending[0]);
    close(packed);
  }
  static void close(int& one) {
    if (one >= 0 && one != STDIN_FILENO) ::close(one);
    one = -1;
  }
  /// From now on the file is what the thread unpacks.
  Result<void> start(Packing packing, std::string begun) {
    Result<std::unique_ptr<Filter>> made = make_filter(packing, Direction::unpack, input_name(path));
    if (!made) return made.error();
    filter = std::move(*made);
    begin = std::move(begun);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0 || ::pipe2(ending.data(), O_CLOEXEC) != 0)
      return file_error(input_name(path), errno);
    packed = std::exchange(file, ends[0]);
    unpacking = std::thread([this, pipe = ends[1]] { unpack_into(pipe); });
    return {};
  }
  /// The next piece of the archive; none once the thread is to end, which else might wait for ever.
  ssize_t read_packed(std::span<char> into) {
    if (!begin.empty()) {
      const std::size_t size = begin.copy(into.data(), into.size());
      begin.erase(0, size);
      return static_cast<ssize_t>(size);
    }
    std::array<pollfd, 2> asked = {pollfd{packed, POLLIN, 0}, pollfd{ending[0], POLLIN, 0}};
    if (::poll(asked.data(), asked.size(), -1) < 0) return -1;
    is_left = asked[1].revents != 0;
    return is_left ? 0 : ::read(packed, into.data(), into.size());
  }
  /// A reader that ends early breaks the pipe: that is no failure, and no signal.
  void unpack_into(int pipe) {
    sigset_t broken;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, nullptr);
    unpacked = cli::unpack([this](std::span<char> into) { return read_packed(into); }, *filter, input_name(path),
                           [pipe](std::string_view piece) { return write_all(pipe, piece); });
    if (is_left) unpacked = {};
    ::close(pipe);
  }
};

InputStream::InputStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
InputStream::InputStream(InputStream&&) noexcept = default;
InputStream& InputStream::operator=(InputStream&&) noexcept = default;
InputStream::~InputStream() = default;

int InputStream::file() const { return state_->file; }

bool InputStream::is_unpacked() const { return state_->packed >= 0; }

double InputStream::share() const {
  const int file = state_->watched;
  struct stat found {};
  if (file < 0 || ::fstat(file, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0) return -1;
  return static_cast<double>(::lseek(file, 0, SEEK_CUR)) / static_cast<double>(found.st_size);
}

Result<void> InputStream::unpack(Packing packing, std::string begin) {
  return state_->start(packing, std::move(begin));
}

Result<InputStream> InputStream::open(const std::string& path, const char* what) {
  auto state = std::make_unique<State>();
  state->path = path;
  if (is_stdin(path)) {
    if (Result<void> claimed = claim_stdin(what); !claimed) return claimed.error();
    state->file = STDIN_FILENO;
  } else {
    const Result<int> file = open_file(path);
    if (!file) return file.error();
    state->file = *file;
  }
  if (const std::optional<FileId> id = file_id(state->file)) files_read().push_back(*id);
  state->watched = ::fcntl(state->file, F_DUPFD_CLOEXEC, 0);
  const Packing packing = is_stdin(path) ? Packing::none : packing_of(path);
  if (packing == Packing::none) return InputStream(std::move(state));
  if (Result<void> started = state->start(packing, {}); !started) return started.error();
  return InputStream(std::move(state));
}

Result<void> InputStream::finish() {
  state_->stop();
  return state_->unpacked;
}

}  // namespace parlance::cli
