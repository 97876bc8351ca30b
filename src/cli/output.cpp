// Standard output becomes the file of -o; a packed one by a pipe and a thread. See output.h.
#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "cli/archive.h"
#include "cli/input.h"
#include "cli/prompt_options.h"
#include "cli/report.h"

namespace parlance::cli {
namespace {

/// Packs what comes through a pipe. After a failure the rest is read all the same: who writes is not to be broken off.
class PackedOutput {
 public:
  PackedOutput(std::unique_ptr<Filter> filter, int file) : filter_(std::move(filter)), file_(file) {}

  /// The end to write to; -1 where there can be none.
  int start() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
    thread_ = std::thread([this, from = ends[0]] { run(from); });
    return ends[1];
  }
  /// 0, or the failure.
  int finish() {
    if (thread_.joinable()) thread_.join();
    return failed_;
  }

 private:
  void run(int from) {
    std::array<char, 1 << 16> buffer;
    const Pour pour = [this](std::string_view piece) { return write(piece); };
    for (;;) {
      const ssize_t size = ::read(from, buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) break;
      if (!filter_->feed({buffer.data(), static_cast<std::size_t>(size)}, pour) && failed_ == 0) failed_ = EIO;
    }
    if (!filter_->finish(pour) && failed_ == 0) failed_ = EIO;
    ::close(from);
    if (::close(file_) != 0 && failed_ == 0) failed_ = errno;
  }
  bool write(std::string_view piece) {
    if (failed_ == 0 && !write_all(file_, piece)) failed_ = errno;
    return true;
  }

  std::unique_ptr<Filter> filter_;
  int file_;
  int failed_ = 0;
  std::thread thread_;
};

/// The bytes of one file in place of those of another. 0, or the failure.
int copy_into(const std::string& from, const std::string& into) {
  const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  const int target = source < 0 ? -1 : ::open(into.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  int failed = target < 0 ? errno : 0;
  std::array<char, 1 << 16> buffer;
  while (failed == 0) {
    const ssize_t size = ::read(source, buffer.data(), buffer.size());
    if (size == 0) break;
    if (size < 0 ? errno != EINTR : !write_all(target, {buffer.data(), static_cast<std::size_t>(size)})) failed = errno;
  }
  if (source >= 0) ::close(source);
  if (target >= 0 && ::close(target) != 0 && failed == 0) failed = errno;
  return failed;
}

/// Gives a new file the owner and the group of the old one, where it has others.
bool give_to(int file, const struct stat& old) {
  struct stat made {};
  if (::fstat(file, &made) == 0 && made.st_uid == old.st_uid && made.st_gid == old.st_gid) return true;
  return ::fchown(file, old.st_uid, old.st_gid) == 0;
}

/// A file that has its name once it is whole: until then it stands beside it. What ends the program takes it away.
class UnfinishedFile {
 public:
  /// The open file; -1 where it cannot stand there: the folder takes none, it is no file (a pipe, a device), or a file
  /// that a new one would not be: one of several names, or of an owner whom it cannot be given to.
  int open(const std::string& path) {
    struct stat old {};
    const bool is_new = ::stat(path.c_str(), &old) != 0;
    if (!is_new && (!S_ISREG(old.st_mode) || old.st_nlink > 1)) return -1;
    if (is_new && ::lstat(path.c_str(), &old) == 0) return -1;  // a link to what is not there
    std::error_code failed;
    const std::filesystem::path real = is_new ? path : std::filesystem::canonical(path, failed).string();
    if (failed || (!is_new && ::access(path.c_str(), W_OK) != 0)) return -1;
    path_ = real.string();
    unfinished_ = path_ + "." + std::to_string(::getpid()) + ".part";
    const int file = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return -1;
    if (!is_new && !give_to(file, old)) {
      ::close(file);
      ::unlink(unfinished_.c_str());
      return -1;
    }
    if (!is_new) (void)::fchmod(file, old.st_mode & 07777);
    name_ = unfinished_.c_str();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) remove_at(signal);
    return file;
  }
  /// Gives it its name, or takes it away. What cannot be replaced, such as a file that is a mount point, gets its
  /// bytes. 0, or the failure.
  int finish(bool is_whole) {
    if (name_ == nullptr) return 0;
    const int done = is_whole ? ::rename(unfinished_.c_str(), path_.c_str()) : ::unlink(unfinished_.c_str());
    const int failed = done == 0 ? 0 : errno;
    name_ = nullptr;
    return failed != 0 && is_whole ? copy() : failed;
  }
  /// Where the bytes are that could not be brought to their place; "": there are none.
  const std::string& left() const { return left_; }

 private:
  int copy() {
    const int failed = copy_into(unfinished_, path_);
    if (failed == 0)
      ::unlink(unfinished_.c_str());
    else
      left_ = unfinished_;
    return failed;
  }
  static void remove_at(int signal) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
    struct sigaction action {};
    action.sa_handler = [](int number) {
      if (const char* const name = name_) ::unlink(name);
      ::raise(number);
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    (void)::sigaction(signal, &action, nullptr);
  }

  std::string path_, unfinished_, left_;
  static inline const char* volatile name_ = nullptr;  ///< for the handler of signals
};

struct Output {
  std::string path;
  UnfinishedFile unfinished;
  bool is_open = false;
  std::unique_ptr<PackedOutput> packed;
};

Output& output() {
  static Output all;
  return all;
}

/// "-" is standard output, as it is standard input where something is read.
bool is_stdout(const std::string& path) { return path.empty() || path == "-"; }

Error cannot_write(int number) {
  Error error(ErrorCode::file, output().path + ": " + std::strerror(number));
  const std::string& left = output().unfinished.left();
  return left.empty() ? error : error.hint("all of it is in '" + left + "'");
}

/// Names that promise what is not written.
struct OtherKind {
  std::string_view ending, written_by;  ///< the program that packs so; "": it is no packing
};
constexpr OtherKind kOtherKinds[] = {{".xz", "xz"},     {".bz2", "bzip2"}, {".lz4", "lz4"}, {".br", "brotli"},
                                     {".7z", "7z"},     {".zip", "zip"},   {".lzma", "xz"}, {".zstd", "zstd"},
                                     {".gzip", "gzip"}, {".parquet", ""},  {".arrow", ""},  {".feather", ""},
                                     {".avro", ""}};

Result<void> check_name(const std::string& path) {
  for (const OtherKind& kind : kOtherKinds) {
    if (!path.ends_with(kind.ending)) continue;
    const std::string plain = path.substr(0, path.size() - kind.ending.size());
    if (kind.written_by.empty())
      return usage("-o " + path + ": what is written is text, and no " + std::string(kind.ending.substr(1)),
                   "-o " + plain + ".jsonl, which pandas and datasets read");
    return usage("-o " + path + ": files are packed as .gz and .zst alone",
                 "-o " + plain + ".zst, or parlance … | " + std::string(kind.written_by) + " > " + path);
  }
  return {};
}

}  // namespace

std::string& output_path() { return output().path; }

bool output_shows_color() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_refused =
      (no_color != nullptr && *no_color != '\0') || (terminal != nullptr && std::string_view(terminal) == "dumb");
  return output_is_terminal() && !is_refused;
}

bool output_is_terminal() { return is_stdout(output().path) && ::isatty(STDOUT_FILENO) != 0; }

Result<void> open_output() {
  Output& out = output();
  if (is_stdout(out.path) || out.is_open) return {};
  if (Result<void> checked = check_name(out.path); !checked) return checked;
  if (has_read(out.path))
    return usage("-o " + out.path + " is the file that is being read", "write to another, and rename it then");
  std::unique_ptr<Filter> filter;
  if (const Packing packing = packing_of(out.path); packing != Packing::none) {
    Result<std::unique_ptr<Filter>> made = make_filter(packing, Direction::pack, out.path);
    if (!made) return made.error();
    filter = std::move(*made);
  }
  // An archive that is cut cannot be read: an older one stays in its place until the new one is whole.
  int file = filter ? out.unfinished.open(out.path) : -1;
  if (file < 0) file = ::open(out.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return cannot_write(errno);
  if (filter) {
    out.packed = std::make_unique<PackedOutput>(std::move(filter), file);
    file = out.packed->start();
    if (file < 0) return cannot_write(errno);
  }
  if (::dup2(file, STDOUT_FILENO) < 0) return cannot_write(errno);
  ::close(file);
  out.is_open = true;
  return {};
}

int finish_output(int code) {
  Output& out = output();
  if (!out.is_open) return code;
  int failed = std::fflush(stdout) == 0 ? 0 : errno;
  if (::close(STDOUT_FILENO) != 0 && failed == 0) failed = errno;
  if (out.packed) {
    const int packing = out.packed->finish();
    if (failed == 0) failed = packing;
    const int naming = out.unfinished.finish(failed == 0);
    if (failed == 0) failed = naming;
  }
  return failed == 0 ? code : report(cannot_write(failed));
}

}  // namespace parlance::cli
