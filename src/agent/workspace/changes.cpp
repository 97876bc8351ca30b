// Compares a folder with what it was. Begin reading at WorkspaceChanges::after_command.
#include "agent/workspace/changes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "agent/sandbox/descriptor.h"
#include "base/sha256.h"

namespace parlance::agent {

namespace {

constexpr std::size_t kMostFiles = 200000;  // of a folder; those behind are not looked at
constexpr int kDeepest = 64;
constexpr std::chrono::milliseconds kWriterPause(150);
constexpr unsigned kMoving = 3;  // commands behind which a file that has changed by itself is looked at again
constexpr std::uint64_t kLargestHashed = std::uint64_t{32} << 20;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

/// "": it cannot be read, or is too large. Two such files count as different.
std::string hash_of(const std::string& path, std::uint64_t size) {
  if (size > kLargestHashed) return {};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) return {};
  std::string bytes;
  bytes.resize(size);
  std::size_t read = 0;
  while (read < size) {
    const ssize_t got = ::read(file.get(), bytes.data() + read, size - read);
    if (got <= 0) return {};
    read += static_cast<std::size_t>(got);
  }
  return sha256(bytes);
}

std::string target_of(const std::string& path) {
  char target[4096];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return size < 0 ? std::string() : std::string(target, static_cast<std::size_t>(size));
}

/// Git writes its index anew when it only looks at files.
bool is_bookkeeping(std::string_view path) {
  return path.ends_with("/.git/index") || path.ends_with("/.git/index.lock");
}

}  // namespace

WorkspaceChanges::WorkspaceChanges(std::vector<std::string> folders) : folders_(std::move(folders)) { take(); }

bool WorkspaceChanges::changed_by_itself() {
  bool is_new = false;
  for (const std::string& path : take()) is_new = moving_.insert_or_assign(path, kMoving + 1).second || is_new;
  for (auto at = moving_.begin(); at != moving_.end();) at = --at->second == 0 ? moving_.erase(at) : std::next(at);
  return is_new;
}

bool WorkspaceChanges::after_command(bool succeeded, bool others_run) {
  const std::vector<std::string> changed = take();
  if (others_run && !changed.empty()) {  // a model may be faster than who writes
    std::this_thread::sleep_for(kWriterPause);
    changed_by_itself();
  }
  const bool has_changed =
      std::any_of(changed.begin(), changed.end(), [this](const std::string& path) { return !moving_.contains(path); });
  const bool was_stale = is_stale_;
  if (succeeded) is_stale_ = false;
  return has_changed || (was_stale && !succeeded);
}

std::vector<std::string> WorkspaceChanges::take() {
  changed_.clear();
  looked_at_ = 0;
  for (const std::string& folder : folders_) look_at(folder, 0);
  for (auto at = entries_.begin(); at != entries_.end();) {
    const bool is_gone = !at->second.seen;
    at->second.seen = false;
    if (is_gone) changed_.push_back(at->first);
    at = is_gone ? entries_.erase(at) : std::next(at);
  }
  return std::move(changed_);
}

void WorkspaceChanges::look(const std::string& folder, int depth) {
  DIR* const listing = ::opendir(folder.c_str());
  if (listing == nullptr) return;
  while (const dirent* one = ::readdir(listing)) {
    const std::string_view name = one->d_name;
    if (name == "." || name == ".." || ++looked_at_ > kMostFiles) continue;
    look_at(folder + "/" + std::string(name), depth);
  }
  ::closedir(listing);
}

void WorkspaceChanges::look_at(const std::string& path, int depth) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || is_bookkeeping(path)) return;
  const bool is_folder = S_ISDIR(facts.st_mode);
  Entry now{.size = is_folder ? 0 : static_cast<std::uint64_t>(facts.st_size),
            .inode = facts.st_ino,
            .mode = facts.st_mode,
            .modified = is_folder ? 0 : nanoseconds(facts.st_mtim),
            .touched = is_folder ? 0 : nanoseconds(facts.st_ctim),
            .seen = true};
  const auto [at, is_new] = entries_.try_emplace(path);
  Entry& before = at->second;
  const bool same_stamp = !is_new && before.inode == now.inode && before.mode == now.mode && before.size == now.size &&
                          before.modified == now.modified && before.touched == now.touched;
  now.hash = same_stamp ? before.hash : S_ISLNK(facts.st_mode) ? target_of(path) : std::string();
  if (!same_stamp && S_ISREG(facts.st_mode)) now.hash = hash_of(path, now.size);
  const bool same_bytes = is_folder || (!now.hash.empty() && before.hash == now.hash);
  if (is_new || (!same_stamp && (before.mode != now.mode || !same_bytes))) changed_.push_back(path);
  before = std::move(now);
  if (is_folder && depth < kDeepest) look(path, depth + 1);
}

}  // namespace parlance::agent
