// Standard output becomes the file of -o; a packed one by a pipe and a thread. See output.h.
#include "cli/output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "cli/input.h"
#include "cli/interruption.h"
#include "cli/lines/archive.h"
#include "cli/lines/unfinished_file.h"
#include "cli/options/prompt_options.h"
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
  /// The failure so far; 0: none.
  int failed() const { return failed_; }
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
  std::atomic<int> failed_ = 0;
  std::thread thread_;
};

struct Output {
  std::string path;
  bool appends = false;
  UnfinishedFile unfinished;
  int older = -1;  ///< an archive that is to be replaced, open for its lock
  bool is_open = false;
  int told = 0;  ///< the failure of writing that was told
  std::unique_ptr<PackedOutput> packed;
};

Output& output() {
  static Output all;
  return all;
}

Error cannot_write(int number) {
  Error error(ErrorCode::file, (output_is_stdout() ? "standard output" : output().path) + ": " + std::strerror(number));
  const std::string& left = output().unfinished.left();
  return left.empty() ? error : error.hint("all of it is in '" + left + "'");
}

/// Takes away what was written of lines that could not all be, where nobody else has written meanwhile.
void take_back(std::size_t written) {
  struct stat now {};
  const off_t end = ::lseek(STDOUT_FILENO, 0, SEEK_CUR);
  if (::fstat(STDOUT_FILENO, &now) != 0 || !S_ISREG(now.st_mode) || end != now.st_size) return;
  const off_t begin = end - static_cast<off_t>(written);
  if (::ftruncate(STDOUT_FILENO, begin) == 0) ::lseek(STDOUT_FILENO, begin, SEEK_SET);
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
      (no_color != nullptr && *no_color != '\0') || terminal == nullptr || std::string_view(terminal) == "dumb";
  return output_is_terminal() && !is_refused;
}

bool output_is_terminal() { return output_is_stdout() && ::isatty(STDOUT_FILENO) != 0; }

namespace {

Error taken() {
  return Error(ErrorCode::file, output().path + ": another run writes to it")
      .hint("wait for its end, or name another file");
}

/// Nobody else writes to the file as long as it is open. Where a file cannot be locked, nothing is known.
Result<void> lock(int file) {
  struct stat found {};
  if (::fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return {};
  if (::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return {};
  return taken();
}

Error not_of_lines(const std::string& path) {
  return usage("--append: " + path + " does not begin with a line of JSON", "name another file");
}

/// How what is cut off at its end becomes whole lines.
Error cut_off(const std::string& path, Packing packing, const std::string& what) {
  const std::string unpacking = packing == Packing::gzip ? "zcat " : "zstdcat ";
  const std::string packs = packing == Packing::gzip ? "gzip" : "zstd";
  const std::string whole = "whole-" + std::filesystem::path(path).filename().string();
  return usage("--append: " + what, unpacking + path + " | head -n -1 | " + packs + " > " + whole +
                                        " has its whole lines; --append -o " + whole + " --skip-lines as many");
}

/// An archive is read once: behind one that is cut off, nothing could be read.
Result<void> check_archive(int file, Packing packing) {
  const std::string& path = output().path;
  Result<std::unique_ptr<Filter>> filter = make_filter(packing, Direction::unpack, path);
  if (!filter) return filter.error();
  char first = '\0', last = '\n';
  const Pour pour = [&](std::string_view piece) {
    if (piece.empty()) return true;
    if (first == '\0') first = piece.front();
    last = piece.back();
    return true;
  };
  std::array<char, 1 << 16> buffer;
  off_t at = 0;
  for (;;) {
    const ssize_t size = ::pread(file, buffer.data(), buffer.size(), at);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return cannot_write(errno);
    if (size == 0) break;
    at += size;
    if (Result<void> fed = (*filter)->feed({buffer.data(), static_cast<std::size_t>(size)}, pour); !fed)
      return cut_off(path, packing, fed.error().message());
  }
  if (Result<void> whole = (*filter)->finish(pour); !whole) return cut_off(path, packing, whole.error().message());
  if (first != '\0' && first != '{') return not_of_lines(path);
  return last == '\n' ? Result<void>() : cut_off(path, packing, "the last line of " + path + " is cut off");
}

/// What there is must be lines, and end as it goes on: with a whole line, or an archive of the same kind.
Result<void> check_old(int file, off_t size, Packing packing) {
  const std::string& path = output().path;
  std::array<char, 4> bytes{};
  const ssize_t got = ::pread(file, bytes.data(), bytes.size(), 0);
  const std::string_view begin(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const Packing is_packed = packing_of_bytes(begin);
  if (packing != is_packed) {
    const std::string ending = is_packed == Packing::gzip ? ".gz" : ".zst";
    return usage(
        "--append: " + path + " is not packed as its name says",
        is_packed == Packing::none ? "name another file" : "it is a " + ending + ": rename it to " + path + ending);
  }
  if (packing != Packing::none) return check_archive(file, packing);
  if (!begin.starts_with('{')) return not_of_lines(path);
  if (::pread(file, bytes.data(), 1, size - 1) == 1 && bytes[0] == '\n') return {};
  return usage(
      "--append: the last line of " + path + " is cut off",
      "truncate -s -$(tail -n 1 " + path + " | wc -c) " + path + " takes it away; --skip-lines as many as are left");
}

/// The file, to write at its end; -1 where there is none yet, or it is empty.
Result<int> open_to_add(Output& out, Packing packing) {
  struct stat found {};
  if (::stat(out.path.c_str(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0) return -1;
  const int file = ::open(out.path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (file < 0) return cannot_write(errno);
  Result<void> checked = lock(file);
  if (checked && ::fstat(file, &found) == 0) checked = check_old(file, found.st_size, packing);
  if (!checked) {
    ::close(file);
    return checked.error();
  }
  if (packing != Packing::none) out.unfinished.add_to(file);
  return file;
}

/// The file, empty. It is emptied once it is this run's.
Result<int> open_anew(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return cannot_write(errno);
  Result<void> ours = lock(file);
  struct stat found {};
  if (ours && ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && ::ftruncate(file, 0) != 0)
    ours = cannot_write(errno);
  if (ours) return file;
  ::close(file);
  return ours.error();
}

/// The file of -o. An archive that is cut cannot be read: an older one stays in its place until the new one is whole.
Result<int> open_target(Output& out, Packing packing) {
  if (out.appends) {
    const Result<int> added = open_to_add(out, packing);
    if (!added || *added >= 0) return added;
  }
  if (packing == Packing::none) return open_anew(out.path);
  // An older one is replaced: nobody may be adding to it. It stays open for its lock.
  if (const int older = ::open(out.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC); older >= 0) {
    if (Result<void> ours = lock(older); !ours) {
      ::close(older);
      return ours.error();
    }
    struct stat found {};
    if (::fstat(older, &found) != 0 || !S_ISREG(found.st_mode))
      ::close(older);
    else
      out.older = older;
  }
  const int file = out.unfinished.open(out.path);
  if (file == UnfinishedFile::kTaken) return taken();
  if (file >= 0) return file;
  if (out.older >= 0) ::close(std::exchange(out.older, -1));
  return open_anew(out.path);
}

}  // namespace

bool& output_appends() { return output().appends; }

bool output_is_stdout() { return output().path.empty() || output().path == "-"; }

bool output_is_kept() { return output().packed == nullptr; }

Result<void> open_output() {
  Output& out = output();
  if (out.is_open) return {};
  let_large_writes_fail();
  if (output_is_stdout()) return {};
  if (Result<void> checked = check_name(out.path); !checked) return checked;
  if (has_read(out.path))
    return usage("-o " + out.path + " is the file that is being read", "write to another, and rename it then");
  const Packing packing = packing_of(out.path);
  std::unique_ptr<Filter> filter;
  if (packing != Packing::none) {
    Result<std::unique_ptr<Filter>> made = make_filter(packing, Direction::pack, out.path);
    if (!made) return made.error();
    filter = std::move(*made);
  }
  Result<int> opened = open_target(out, packing);
  if (!opened) return opened.error();
  int file = *opened;
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

Error output_error(int number) {
  output().told = number;
  return cannot_write(number);
}

int output_failure() { return output().told; }

Result<void> write_lines(std::string_view lines) {
  if (const int failed = output().packed ? output().packed->failed() : 0) return output_error(failed);
  for (std::size_t written = 0; written < lines.size();) {
    const ssize_t done = ::write(STDOUT_FILENO, lines.data() + written, lines.size() - written);
    if (done == 0) errno = EIO;  // what takes nothing now would be asked for ever
    if (done > 0) written += static_cast<std::size_t>(done);
    if (done > 0 || errno == EINTR) continue;
    const int failed = errno;
    take_back(written);
    return output_error(failed);
  }
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
  if (failed == 0 || (out.told != 0 && code != 0)) return code;
  return report(cannot_write(failed));
}

}  // namespace parlance::cli
