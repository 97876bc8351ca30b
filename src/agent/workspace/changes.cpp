// Compares a folder with what it was. Begin reading at WorkspaceChanges::after_command.
#include "agent/workspace/changes.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "agent/sandbox/descriptor.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "base/visible.h"

namespace parlance::agent {

namespace {

constexpr std::size_t kMostFiles = 200'000;   // those behind are not looked at
constexpr std::size_t kMostNames = 32 << 20;  // bytes of their paths, each of which has at most 4,096
constexpr std::size_t kDeepest = 256;         // folders within folders
const std::string kUnseen;                    // stands for the paths that nobody has looked at
constexpr std::chrono::milliseconds kWriterPause(150);
constexpr unsigned kMoving = 3;  // commands behind which a file that has changed by itself is looked at again
constexpr std::uint64_t kMostRead = std::uint64_t{32} << 20;  // bytes of contents in one look
constexpr std::uint64_t kLeastRead = 4096;                    // for which each file counts, as an empty one takes time

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

/// "": it cannot be read. Two such files count as different.
std::string hash_of(const std::string& path, std::uint64_t size) {
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

/// Of where a link leads, as that may be as long as a path.
std::string hash_of_target(const std::string& path) {
  char target[4096];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  return size < 0 ? std::string() : sha256({target, static_cast<std::size_t>(size)});
}

std::string name_in_quotes(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + "\"";
}

/// Git writes its index anew when it only looks at files.
bool is_bookkeeping(std::string_view path) {
  return path.ends_with("/.git/index") || path.ends_with("/.git/index.lock");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// A word of a name, with # for its numbers. Digits among letters are a random word, or hexadecimal: # as a whole.
std::string without_numbers(std::string_view word) {
  constexpr std::size_t kShortestHex = 4, kShortestRandom = 6, kMostOrder = 1;
  const bool has_digit = std::any_of(word.begin(), word.end(), is_digit);
  std::size_t turns = 0;
  for (std::size_t at = 1; at < word.size(); ++at) turns += is_digit(word[at]) != is_digit(word[at - 1]) ? 1 : 0;
  const bool is_number = word.size() >= kShortestHex && std::all_of(word.begin(), word.end(), is_hex);
  const bool is_random = word.size() >= kShortestRandom && turns > kMostOrder;
  if (has_digit && (is_number || is_random)) return "#";
  std::string made;
  for (const char c : word) {
    if (!is_digit(c))
      made += c;
    else if (!made.ends_with('#'))
      made += '#';
  }
  return made;
}

/// The path with # for what is counted in its name; "": nothing is.
std::string counted(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string made(path.substr(0, slash + 1));
  std::string_view name = path.substr(slash + 1);
  const auto is_word = [](char c) { return is_digit(c) || is_letter(c); };
  while (!name.empty()) {
    const auto end = std::find_if_not(name.begin(), name.end(), is_word);
    const auto size = static_cast<std::size_t>(end - name.begin());
    made += size == 0 ? std::string(1, name.front()) : without_numbers(name.substr(0, size));
    name.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return made == path ? std::string() : made;
}

/// Could commands have written into a folder that cannot be read, or cannot be entered, all the same? Whose folder it
/// is can give himself the rights for a while.
bool may_hide_changes(const std::string& folder, int why) {
  if (why == ENOENT || why == ENOTDIR) return false;  // it has just gone
  struct stat facts {};
  const bool is_known = why == EACCES && ::stat(folder.c_str(), &facts) == 0;
  return !is_known || facts.st_uid == ::geteuid() || ::access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

WorkspaceChanges::WorkspaceChanges(std::vector<std::string> folders, std::function<bool()> stopped)
    : folders_(std::move(folders)), stopped_(std::move(stopped)) {
  take();
}

bool WorkspaceChanges::changed_by_itself() {
  const bool by_others = others_ran();
  bool is_new = false;
  for (const Change& change : take()) {
    const bool was_known = moves(change.path);
    add_moving(change.path, by_others);
    if (std::string all = counted(change.path); !all.empty() && (!change.was_written || moving_.contains(all)))
      add_moving(std::move(all), by_others);
    if (!was_known) stale_.push_back(change.path);
    is_new = is_new || !was_known;
  }
  for (auto at = moving_.begin(); at != moving_.end();)
    at = --at->second.commands == 0 ? moving_.erase(at) : std::next(at);
  return is_new;
}

void WorkspaceChanges::before_command() {
  changed_by_itself();
  if (!others_run_) std::erase_if(moving_, [](const auto& file) { return file.second.by_others; });
}

/// None begins while no command runs: where none ran at the last look, who has written since is outside of the agent.
bool WorkspaceChanges::others_ran() {
  const bool ran = others_run_;
  others_run_ = std::ranges::any_of(others_, [](const auto& runs) { return runs(); });
  return ran || others_run_;
}

/// What was seen to move without the others stays so: they do not explain it.
void WorkspaceChanges::add_moving(std::string path, bool by_others) {
  const auto [at, is_new] = moving_.try_emplace(std::move(path));
  at->second = {.commands = kMoving + 1, .by_others = by_others && (is_new || at->second.by_others)};
}

bool WorkspaceChanges::moves(const std::string& path) const {
  return moving_.contains(path) || moving_.contains(counted(path));
}

bool WorkspaceChanges::are_own_products(std::string_view command, const std::vector<std::string>& paths) const {
  return !command.empty() && command == last_ &&
         std::all_of(paths.begin(), paths.end(), [this](const auto& path) { return wrote_.contains(path); });
}

std::vector<std::string> WorkspaceChanges::after_command(bool succeeded, bool others_run, std::string_view command) {
  others_ran();  // before the look: one that ends meanwhile may write behind it
  const std::vector<Change> changed = take();
  std::vector<std::string> stale = std::exchange(stale_, {});
  if (others_run && !changed.empty()) {  // a model may be faster than who writes
    std::this_thread::sleep_for(kWriterPause);
    changed_by_itself();
    stale_.clear();  // what is found so is no more than the look behind the command finds
  }
  std::vector<std::string> left;
  for (const Change& change : changed)
    if (!moves(change.path)) left.push_back(change.path);
  if (!sees_all_) left.push_back(kUnseen);
  if (succeeded && are_own_products(command, left)) return {};
  if (!left.empty()) {
    last_ = succeeded ? command : std::string_view();
    wrote_.clear();
    for (const std::string& path : left) wrote_.insert(path);
  }
  if (succeeded) return left;
  left.insert(left.end(), stale.begin(), stale.end());
  stale_ = std::move(stale);
  return left;
}

bool WorkspaceChanges::are_sure(const std::vector<std::string>& paths) {
  return std::ranges::any_of(paths, [](const std::string& path) { return path != kUnseen; });
}

std::string WorkspaceChanges::names_of(const std::vector<std::string>& paths) const {
  constexpr std::size_t kMost = 3, kLongest = 80;
  std::vector<std::string_view> inner(paths.begin(), paths.end());
  const bool has_unseen = std::erase(inner, kUnseen) > 0;
  for (std::string_view& path : inner)
    for (const std::string& folder : folders_)
      if (path.starts_with(folder + "/")) path.remove_prefix(folder.size() + 1);
  std::stable_partition(inner.begin(), inner.end(), [](std::string_view path) {  // those of .git and its like last
    return !path.starts_with('.') && path.find("/.") == path.npos;
  });
  std::string made;
  for (std::size_t at = 0; at < std::min(kMost, inner.size()); ++at) {
    std::string shown;
    append_visible(shown, inner[at], {});
    const std::string_view begin = utf8::whole_prefix(shown, kLongest);
    made.append(at == 0 ? "" : ", ")
        .append(name_in_quotes(begin.size() == shown.size() ? shown : std::string(begin) + "…"));
  }
  if (inner.size() > kMost) made.append(" and ").append(std::to_string(inner.size() - kMost)).append(" more");
  if (has_unseen) made.append(made.empty() ? "" : ", and ").append("maybe files that cannot be looked at");
  return made;
}

std::vector<WorkspaceChanges::Change> WorkspaceChanges::take() {
  changed_.clear();
  looked_at_ = 0;
  names_ = 0;
  sees_all_ = true;
  for (const std::string& folder : folders_) {
    root_ = folder.size();
    look_at(folder);
  }
  read_contents();
  sees_all_ = sees_all_ && !was_ended_;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const bool is_gone = !at->second.seen && !was_ended_;
    at->second.seen = false;
    if (is_gone) changed_.push_back({at->first});
    at = is_gone ? entries_.erase(at) : std::next(at);
  }
  return std::move(changed_);
}

/// The names first, so that as many descriptors are open for a deep folder as for a flat one.
void WorkspaceChanges::look(const std::string& folder) {
  DIR* const listing = ::opendir(folder.c_str());
  if (listing == nullptr) {
    sees_all_ = sees_all_ && !may_hide_changes(folder, errno);
    return;
  }
  std::vector<std::string> names;
  while (const dirent* one = ::readdir(listing)) {
    const std::string_view name = one->d_name;
    if (name == "." || name == "..") continue;
    names_ += folder.size() + 1 + name.size();
    if (++looked_at_ > kMostFiles || names_ > kMostNames) break;
    names.emplace_back(name);
  }
  ::closedir(listing);
  sees_all_ = sees_all_ && looked_at_ <= kMostFiles && names_ <= kMostNames;
  for (const std::string& name : names) look_at(folder + "/" + name);
}

void WorkspaceChanges::look_at(const std::string& path) {
  struct stat facts {};
  if (is_to_end()) return;
  if (::lstat(path.c_str(), &facts) != 0) {
    sees_all_ = sees_all_ && !may_hide_changes(path.substr(0, path.rfind('/')), errno);
    return;
  }
  if (is_bookkeeping(path)) return;
  const bool is_folder = S_ISDIR(facts.st_mode);
  Entry now{.size = is_folder ? 0 : static_cast<std::uint64_t>(facts.st_size),
            .inode = facts.st_ino,
            .mode = facts.st_mode,
            .modified = is_folder ? 0 : nanoseconds(facts.st_mtim),
            .touched = is_folder ? 0 : nanoseconds(facts.st_ctim),
            .seen = true};
  const auto [at, is_new] = entries_.try_emplace(path);
  compare(*at, std::move(now), is_new);
  if (!is_folder) return;
  const auto depth =
      static_cast<std::size_t>(std::count(path.begin() + static_cast<std::ptrdiff_t>(root_), path.end(), '/'));
  if (depth < kDeepest)
    look(path);
  else
    sees_all_ = false;
}

void WorkspaceChanges::compare(Entries::value_type& file, Entry now, bool is_new) {
  auto& [path, entry] = file;
  const Entry before = entry;
  const bool same_stamp = !is_new && before.inode == now.inode && before.mode == now.mode && before.size == now.size &&
                          before.modified == now.modified && before.touched == now.touched;
  if (same_stamp) now.hash = before.hash;
  if (!same_stamp && S_ISLNK(now.mode)) now.hash = hash_of_target(path);
  entry = std::move(now);
  if (same_stamp) return;
  if (S_ISREG(entry.mode)) return unread_.push_back({.file = &file, .before = before, .is_new = is_new});
  const bool same_bytes = S_ISDIR(entry.mode) || (!entry.hash.empty() && entry.hash == before.hash);
  if (is_new || entry.mode != before.mode || !same_bytes) changed_.push_back({path, !is_new});
}

/// Those first whose contents alone tell whether they have changed, and of all the smallest first. The others are read
/// for the next look.
void WorkspaceChanges::read_contents() {
  std::ranges::sort(unread_, {},
                    [](const Unread& one) { return std::pair(!one.may_be_same(), one.file->second.size); });
  std::uint64_t room = kMostRead;
  for (const Unread& one : unread_) {
    auto& [path, now] = *one.file;
    const std::uint64_t cost = std::max(now.size, kLeastRead);
    if (cost <= room && !is_to_end()) {
      room -= cost;
      now.hash = hash_of(path, now.size);
    }
    if (!one.may_be_same() || now.hash != one.before.hash) changed_.push_back({path, !one.is_new});
  }
  unread_.clear();
}

bool WorkspaceChanges::is_to_end() {
  was_ended_ = was_ended_ || (stopped_ && stopped_());
  return was_ended_;
}

}  // namespace parlance::agent
