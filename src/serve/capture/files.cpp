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
  /// Is it still the one that a path leads to?
  bool is_at(const std::string& path) const {
    struct stat open {
    }, there{};
    return ::fstat(number, &open) == 0 && ::stat(path.c_str(), &there) == 0 && open.st_ino == there.st_ino &&
           open.st_dev == there.st_dev;
  }

  std::mutex mutex;
  int number = -1;  ///< -1: not open
  off_t size = 0;
  bool waits = false;  ///< the last record may not be on the disk yet
  std::string head;    ///< the last one's hash
  std::set<std::string> grammars;
};

Result<std::unique_ptr<CaptureFiles>> CaptureFiles::open(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return capture_error(folder, "cannot be made", errno);
  std::unique_ptr<CaptureFiles> made(new CaptureFiles(folder));
  made->lock_ = ::open((folder + "/.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
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
  const std::lock_guard lock(mutex_);
  if (const auto found = open_.find(name); found != open_.end()) {
    order_.splice(order_.begin(), order_, found->second);
    return found->second->second;
  }
  order_.emplace_front(name, std::make_shared<File>());
  open_[name] = order_.begin();
  // One that is in use stays, or two would write to it.
  for (auto at = std::prev(order_.end()); order_.size() > kMostOpenFiles && at != order_.begin();) {
    const auto last = at--;
    if (last->second.use_count() > 1) continue;
    open_.erase(last->first);
    order_.erase(last);
  }
  return order_.front().second;
}

/// Reads what the file has, and cuts off a line without its end.
Result<void> CaptureFiles::open_file(File& file, const std::string& name) const {
  const std::string path = folder_ + "/" + name;
  const int number = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (number < 0) return capture_error(path, "cannot be opened", errno);
  file.number = number;
  file.head.clear();
  file.grammars.clear();
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  const std::size_t end = text->rfind('\n');
  file.size = end == text->npos ? 0 : static_cast<off_t>(end + 1);
  if (static_cast<std::size_t>(file.size) < text->size() && ::ftruncate(number, file.size) != 0)
    return capture_error(path, "cannot be cut", errno);
  constexpr std::string_view kHead = R"({"record": "head")", kGrammar = R"({"record": "grammar")";
  Document parsed;
  for (std::size_t at = 0; at < static_cast<std::size_t>(file.size);) {
    const std::size_t stop = text->find('\n', at);
    const std::string_view line = std::string_view(*text).substr(at, stop - at);
    at = stop + 1;
    if (line.starts_with(kHead)) file.head = sha256(line);
    if (line.starts_with(kGrammar) && parsed.parse(line)) file.grammars.emplace(parsed.root()["sha256"].text());
  }
  if (file.size == 0) {  // the name of a new file has to be on the disk too
    const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
      ::fsync(folder);
      ::close(folder);
    }
  }
  return {};
}

Result<void> CaptureFiles::append(const CaptureEntry& entry) {
  constexpr std::int64_t kBetween = 10;  // seconds
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::seconds(1);
  if (std::int64_t looked = looked_; now - looked >= kBetween && looked_.compare_exchange_strong(looked, now))
    close_removed();
  const std::shared_ptr<File> file = file_named(entry.file);
  const std::lock_guard lock(file->mutex);
  if (file->number >= 0 && !file->is_at(folder_ + "/" + entry.file)) {
    file->close();
    const std::lock_guard names(mutex_);
    ++replaced_[entry.file];
  }
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
  const auto found = replaced_.find(name);
  return found == replaced_.end() ? 1 : 1 + found->second;
}

/// A disk has the room of a file that was removed only once nobody has it open.
void CaptureFiles::close_removed() {
  const std::lock_guard lock(mutex_);
  for (auto at = order_.begin(); at != order_.end();) {
    const auto one = at++;
    if (one->second.use_count() > 1 || one->second->is_at(folder_ + "/" + one->first)) continue;
    if (one->second->number >= 0) ++replaced_[one->first];
    open_.erase(one->first);
    order_.erase(one);
  }
}

Result<void> CaptureFiles::probe() {
  close_removed();
  const std::string path = folder_ + "/.probe";
  const int number = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
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
