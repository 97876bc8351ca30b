// WorkspaceChanges: whether a command has changed files of some folders. What it wrote as it was before does not count,
// so that a test which runs once more, and writes its caches once more, changes nothing; nor do files that change while
// no command runs, such as a server's log, nor new ones that are called as those are, but for a number: log.17, log.18.
// Where programs of the agent may have written them, that ends with the command in which the last of these ends: then
// what changes is the command's. What changes while none of them runs is from outside, and not looked at for a while.
// A command that has succeeded before, and writes the same files when it runs once more, changes nothing either: what a
// check writes (a report, the log of the server that it asks) are its own products.
//
// Size, times, inode and mode tell files apart. Where one of these has changed, contents tell whether the file has: of
// so many bytes in one look, and a file that nobody has read counts as changed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace parlance::agent {

class WorkspaceChanges {
 public:
  /// What is below these folders. Links are not followed. Where `stopped` says so, a look ends at once: the run is to
  /// end, and what was not looked at may have changed.
  explicit WorkspaceChanges(std::vector<std::string> folders, std::function<bool()> stopped = {});

  /// `runs` is asked whether the agent has programs beside the command that runs.
  void add_others(std::function<bool()> runs) { others_.push_back(std::move(runs)); }
  /// Has a file changed since the last call of any of the three, while no command ran? It then changes by itself, and
  /// is not looked at for some commands. Files that were known to do so do not count.
  bool changed_by_itself();
  /// Before a command, which is not to be held to what changed before it.
  void before_command();
  /// Behind it: the paths of what it has left to verify. That is what it changed, and if it has failed, what others
  /// changed since the last one that succeeded. `others_run`: there are programs in the background, and what they
  /// change on and on is not the command's. `command` is its text, where one that is run again is the same.
  std::vector<std::string> after_command(bool succeeded, bool others_run = false, std::string_view command = {});
  /// False: some files are too many, too deep or in closed folders, or the look was ended. Each command is then one
  /// that may have changed them.
  bool sees_all() const { return sees_all_; }
  /// What changed_by_itself() has found, since the last command that succeeded.
  const std::vector<std::string>& stale() const { return stale_; }
  /// Some of these paths, from the folder on, for a sentence: "a.txt", "b.txt" and 7 more; hidden ones last. They are
  /// quoted: names are data. One more stands for the files that nobody has looked at.
  std::string names_of(const std::vector<std::string>& paths) const;
  /// Is there a file among these paths, and not only what nobody has looked at?
  static bool are_sure(const std::vector<std::string>& paths);

 private:
  /// What tells a file from another of the same name.
  struct Entry {
    std::uint64_t size = 0, inode = 0, mode = 0;
    std::int64_t modified = 0, touched = 0;  ///< nanoseconds
    std::string hash{};                      ///< "": nobody has read it
    bool seen = false;
  };
  struct Change {
    std::string path;
    bool was_written = false;  ///< it was there, and is there: neither made nor removed
  };
  struct Moving {
    unsigned commands = 0;   ///< for which it is not looked at yet
    bool by_others = false;  ///< only while programs of the agent ran beside its commands
  };
  using Entries = std::unordered_map<std::string, Entry>;
  /// A file with another stamp than before.
  struct Unread {
    Entries::value_type* file = nullptr;
    Entry before{};  ///< without a hash: the file is new, or nobody has read it
    bool is_new = false;
    /// Only its contents tell whether it has changed.
    bool may_be_same() const {
      return !before.hash.empty() && before.size == file->second.size && before.mode == file->second.mode;
    }
  };
  /// What was made, changed or removed since the last call.
  std::vector<Change> take();
  bool moves(const std::string& path) const;
  bool others_ran();
  void add_moving(std::string path, bool by_others);
  bool are_own_products(std::string_view command, const std::vector<std::string>& paths) const;
  void look(const std::string& folder);
  void look_at(const std::string& path);
  void compare(Entries::value_type& file, Entry now, bool is_new);
  void read_contents();
  bool is_to_end();

  std::vector<std::string> folders_;
  std::function<bool()> stopped_;
  std::vector<std::function<bool()>> others_;
  Entries entries_;
  std::vector<Change> changed_;
  std::vector<Unread> unread_;
  /// What changes by itself: paths, and with # for what is counted, those of files that were made or removed so.
  std::unordered_map<std::string, Moving> moving_;
  std::vector<std::string> stale_;
  std::size_t looked_at_ = 0, names_ = 0;  ///< files of this look, and the bytes of their paths
  std::size_t root_ = 0;                   ///< bytes of the path of the folder that is looked at
  bool sees_all_ = true, was_ended_ = false;
  bool others_run_ = false;                ///< as the last look began
  std::string last_;                       ///< the last command that changed something; "": it failed
  std::unordered_set<std::string> wrote_;  ///< what it changed, with # for what is counted
};

}  // namespace parlance::agent
