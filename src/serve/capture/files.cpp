// Writes captures. Begin reading at CaptureFiles::append.
#include "serve/capture/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iterator>

#include "base/sha256.h"
#include "parlance/json.h"
#include "parlance/source.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kMostOpenFiles = 512;
constexpr std::size_t kMostClosedFiles = 16384;  // of which it is remembered what they have

bool is_safe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

Error capture_error(const std::string& path, std::string_view what, int number) {
  return Error(ErrorCode::file, "'" + path + "' " + std::string(what) + ": " + file_error(path, number).message());
}

/// Why not all could be written; 0: all was. Of a part that was written only the next attempt knows why it is one.
int write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    errno = 0;
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return errno != 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// What the next records of a file go by, read in pieces: the file may be larger than the memory.
class FileScan {
 public:
  /// Why it cannot be read; 0: it was.
  int run(int file) {
    std::string buffer(std::size_t{1} << 20, '\0');
    for (;;) {
      const ssize_t got = ::pread(file, buffer.data(), buffer.size(), read_);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return got < 0 ? errno : 0;
      take(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
    }
  }
  off_t end() const { return end_; }  ///< of the last whole line
  std::string head;                   ///< the last one's hash
  std::set<std::string> grammars;

 private:
  static constexpr std::string_view kHead = R"({"record": "head")", kGrammar = R"({"record": "grammar")";

  void take(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t stop = piece.find('\n');
      const bool is_end = stop != piece.npos;
      add(piece.substr(0, stop));
      const std::size_t size = is_end ? stop + 1 : piece.size();
      read_ += static_cast<off_t>(size);
      piece.remove_prefix(size);
      if (is_end) end_line();
    }
  }
  /// Of a line of another kind no more is kept than shows that.
  void add(std::string_view part) {
    if (!may_be_wanted_) return;
    line_.append(part);
    may_be_wanted_ = line_.size() < kGrammar.size() || line_.starts_with(kHead) || line_.starts_with(kGrammar);
    if (!may_be_wanted_) line_.clear();
  }
  void end_line() {
    Document parsed;
    if (line_.starts_with(kHead)) head = sha256(line_);
    if (line_.starts_with(kGrammar) && parsed.parse(line_)) grammars.emplace(parsed.root()["sha256"].text());
    line_.clear();
    may_be_wanted_ = true;
    end_ = read_;
  }

  std::string line_;
  bool may_be_wanted_ = true;
  off_t read_ = 0, end_ = 0;
};

/// The name of a new file has to be on the disk too.
void sync_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace

std::string capture_file_name(std::string_view session, std::string_view owner) {
  constexpr std::size_t kShown = 64, kDigits = 24;
  std::string name;
  for (const char c : session.substr(0, kShown)) name += is_safe(c) ? c : '_';
  return name + "." + sha256(sha256(owner) + std::string(session)).substr(0, kDigits) + ".jsonl";
}

struct CaptureFiles::File {
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  void close() {
    if (number >= 0 && waits) ::fdatasync(number);
    if (number >= 0) ::close(number);
    number = -1;
    waits = false;
  }
  bool is(const struct stat& other) const { return inode == other.st_ino && device == other.st_dev; }
  /// Is it still the one that a path leads to?
  bool is_at(const std::string& path) const {
    struct stat there {};
    return ::stat(path.c_str(), &there) == 0 && is(there);
  }

  std::mutex mutex;
  int number = -1;  ///< -1: not open
  off_t size = 0;
  bool waits = false;  ///< the last record may not be on the disk yet
  std::string head;    ///< the last one's hash
  std::set<std::string> grammars;
  // Whoever has `mutex` changes these, under the lock of CaptureFiles too, so that either is enough to read them.
  ino_t inode = 0;
  dev_t device = 0;
  std::uint64_t version = 0;  ///< 0: it was never open
};

Result<std::unique_ptr<CaptureFiles>> CaptureFiles::open(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return capture_error(folder, "cannot be made", errno);
  std::unique_ptr<CaptureFiles> made(new CaptureFiles(folder));
  made->lock_ = ::open((folder + "/.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (made->lock_ < 0) return capture_error(folder, "cannot be written to", errno);
  if (::flock(made->lock_, LOCK_EX | LOCK_NB) != 0) {
    return Error(ErrorCode::file,
                 "another program captures in '" + folder + "': a gateway, or a run of an agent that still goes on")
        .hint("give each a folder of its own");
  }
  return made;
}

CaptureFiles::~CaptureFiles() {
  if (lock_ >= 0) ::close(lock_);
}

std::shared_ptr<CaptureFiles::File> CaptureFiles::file_named(const std::string& name) {
  std::vector<std::shared_ptr<File>> too_many;  // closed without the lock: that may wait for the disk
  std::shared_ptr<File> found;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_.find(name); known != known_.end()) {
      Order& from = known->second->is_open ? open_ : closed_;
      open_.splice(open_.begin(), from, known->second);
    } else {
      open_.push_front({.name = name, .file = std::make_shared<File>()});
      known_[name] = open_.begin();
    }
    open_.front().is_open = true;
    found = open_.front().file;
    leave_room(too_many);
  }
  for (const std::shared_ptr<File>& one : too_many) {
    const std::lock_guard lock(one->mutex);
    one->close();
  }
  return found;
}

/// Under the lock. What is known of a file stays when it is closed, since it may be large to read.
void CaptureFiles::leave_room(std::vector<std::shared_ptr<File>>& to_close) {
  for (auto at = std::prev(open_.end()); open_.size() > kMostOpenFiles && at != open_.begin();) {
    const auto last = at--;
    if (last->file.use_count() > 1) continue;  // one that is in use stays, or it would only be opened again
    to_close.push_back(last->file);
    last->is_open = false;
    closed_.splice(closed_.begin(), open_, last);
  }
  while (closed_.size() > kMostClosedFiles) {
    known_.erase(closed_.back().name);
    closed_.pop_back();
  }
}

/// Reads what the file has, unless it is as it was when it was closed, and cuts off a line without its end.
Result<void> CaptureFiles::open_file(File& file, const std::string& name) {
  const std::string path = folder_ + "/" + name;
  file.number = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  struct stat there {};
  if (file.number < 0 || ::fstat(file.number, &there) != 0) return capture_error(path, "cannot be opened", errno);
  if (file.is(there) && file.size == there.st_size) return {};
  FileScan scan;
  if (const int why = scan.run(file.number); why != 0) return capture_error(path, "cannot be read", why);
  if (scan.end() < there.st_size && ::ftruncate(file.number, scan.end()) != 0)
    return capture_error(path, "cannot be cut", errno);
  file.size = scan.end();
  file.head = std::move(scan.head);
  file.grammars = std::move(scan.grammars);
  if (file.size == 0) sync_folder(folder_);
  const std::lock_guard lock(mutex_);
  file.inode = there.st_ino;
  file.device = there.st_dev;
  file.version = ++versions_;
  return {};
}

Result<void> CaptureFiles::append(const CaptureEntry& entry) {
  constexpr std::int64_t kBetween = 10;  // seconds
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::seconds(1);
  if (std::int64_t looked = looked_; now - looked >= kBetween && looked_.compare_exchange_strong(looked, now))
    close_removed();
  const std::shared_ptr<File> file = file_named(entry.file);
  const std::lock_guard lock(file->mutex);
  if (file->number >= 0 && !file->is_at(folder_ + "/" + entry.file)) file->close();
  if (file->number < 0) {
    if (Result<void> opened = open_file(*file, entry.file); !opened) {
      file->close();
      return opened;
    }
  }
  const std::string head = sha256(entry.head);
  const bool needs_grammar = !entry.grammar.empty() && !file->grammars.contains(entry.grammar_hash);
  std::string text;
  if (head != file->head) text.append(entry.head).append("\n");
  if (needs_grammar) text.append(entry.grammar).append("\n");
  text.append(entry.record).append("\n");
  int why = write_whole(file->number, text);
  if (why == 0 && entry.sync && ::fdatasync(file->number) != 0) why = errno;
  if (why != 0) {
    // Where it cannot be cut it is opened anew the next time, which cuts it.
    if (::ftruncate(file->number, file->size) != 0) file->close();
    return capture_error(folder_ + "/" + entry.file, "cannot be written to", why);
  }
  file->size += static_cast<off_t>(text.size());
  file->waits = !entry.sync;
  file->head = head;
  if (needs_grammar) file->grammars.insert(entry.grammar_hash);
  return {};
}

std::uint64_t CaptureFiles::version(const std::string& name) {
  struct stat there {};
  if (::stat((folder_ + "/" + name).c_str(), &there) != 0) return 0;
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(name);
  return known != known_.end() && known->second->file->is(there) ? known->second->file->version : 0;
}

/// A disk has the room of a file that was removed only once nobody has it open.
void CaptureFiles::close_removed() {
  const std::lock_guard lock(mutex_);
  for (auto at = open_.begin(); at != open_.end();) {
    const auto one = at++;
    if (one->file.use_count() > 1 || one->file->is_at(folder_ + "/" + one->name)) continue;
    known_.erase(one->name);
    open_.erase(one);
  }
}

Result<void> CaptureFiles::probe() {
  close_removed();
  const std::string path = folder_ + "/.probe";
  const int number = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (number < 0) return capture_error(path, "cannot be opened", errno);
  const std::string text(std::size_t{64} << 10, ' ');
  errno = 0;
  const bool whole =
      ::write(number, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fdatasync(number) == 0;
  const int why = errno != 0 ? errno : ENOSPC;
  ::close(number);
  ::unlink(path.c_str());
  if (!whole) return capture_error(folder_, "cannot be written to", why);
  return {};
}

}  // namespace parlance::serve
