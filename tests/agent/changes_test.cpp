// What WorkspaceChanges sees in a folder of its own, as an ordinary user: root can enter every folder. Begin reading at
// main.
#include "agent/workspace/changes.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace parlance::agent;

int failed = 0;

void expect(bool is_so, const std::string& what) {
  if (!is_so) std::printf("FAILED: %s\n", what.c_str());
  failed += is_so ? 0 : 1;
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// Zeros, which take no room.
void write_sparse(const std::string& path, std::uintmax_t size) {
  write_text(path, "");
  std::filesystem::resize_file(path, size);
}

/// A new folder below `all`.
std::string new_folder(const std::string& all) {
  std::string made = all + "/XXXXXX";
  expect(::mkdtemp(made.data()) != nullptr, "a folder");
  return made;
}

void check_same_contents(const std::string& folder) {
  write_text(folder + "/a", "one");
  WorkspaceChanges changes({folder});
  changes.before_command();
  write_text(folder + "/a", "one");
  expect(changes.after_command(true).empty(), "a file of the start that is written as it was has not changed");
  write_text(folder + "/a", "two");
  expect(changes.after_command(true).size() == 1, "another of the same size has");
}

void check_what_is_read(const std::string& folder) {
  constexpr std::uintmax_t kMebibyte = 1 << 20;
  write_sparse(folder + "/first", 20 * kMebibyte);
  write_sparse(folder + "/second", 20 * kMebibyte);
  write_sparse(folder + "/small", 1);
  WorkspaceChanges changes({folder});
  changes.before_command();
  write_sparse(folder + "/first", 20 * kMebibyte);
  write_sparse(folder + "/second", 20 * kMebibyte);
  write_sparse(folder + "/small", 1);
  expect(changes.after_command(true).size() == 1, "one of two large files was read at the start, and the small one");
}

void check_stop(const std::string& folder) {
  for (int each = 0; each < 100; ++each) write_text(folder + "/" + std::to_string(each), "x");
  bool is_stopped = false;
  int asked = 0;
  WorkspaceChanges changes({folder}, [&] { return ++asked, is_stopped; });
  expect(asked >= 100, "each file asks whether to go on");
  expect(changes.sees_all(), "the first look has seen all");
  is_stopped = true;
  asked = 0;
  const std::vector<std::string> left = changes.after_command(true);
  expect(asked == 1, "a look ends at once where the run is to end");
  expect(left.size() == 1 && !changes.sees_all(), "what it has not seen may have changed, and is not gone");
}

/// Few files, whose paths would take a lot of memory.
void check_long_paths(const std::string& folder) {
  constexpr std::size_t kLongest = 3900;
  std::string deep = folder;
  while (deep.size() < kLongest) expect(::mkdir((deep += "/" + std::string(100, 'd')).c_str(), 0700) == 0, "mkdir");
  for (int each = 0; each < 100; ++each) write_text(deep + "/" + std::to_string(each), "");
  WorkspaceChanges changes({folder});
  expect(changes.sees_all(), "a hundred long paths are looked at");
  for (int each = 0; each < 9000; ++each) write_text(deep + "/" + std::to_string(each), "");
  changes.after_command(true);
  expect(!changes.sees_all(), "of 35 MB of paths some are not looked at, and it is said");
  std::filesystem::remove_all(folder);
  expect(changes.after_command(true).size() > 8000, "what is gone has changed");
}

void check_links(const std::string& folder) {
  std::filesystem::create_symlink("one", folder + "/link");
  WorkspaceChanges changes({folder});
  std::filesystem::remove(folder + "/link");
  std::filesystem::create_symlink("one", folder + "/link");
  expect(changes.after_command(true).empty(), "a link that is made as it was has not changed");
  std::filesystem::remove(folder + "/link");
  std::filesystem::create_symlink("two", folder + "/link");
  expect(changes.after_command(true).size() == 1, "one that leads elsewhere has");
}

void check_closed_folder(const std::string& folder, mode_t mode) {
  const std::string closed = folder + "/closed";
  expect(::mkdir(closed.c_str(), 0700) == 0, "mkdir");
  write_text(closed + "/f", "good");
  ::chmod(closed.c_str(), mode);
  WorkspaceChanges changes({folder});
  changes.before_command();
  ::chmod(closed.c_str(), 0700);
  write_text(closed + "/f", "bad");
  ::chmod(closed.c_str(), mode);
  expect(!changes.after_command(true).empty(), "what is in a closed folder of ours may have changed");
  ::chmod(closed.c_str(), 0700);
}

void check_others(const std::string& folder) {
  bool others_run = true;
  WorkspaceChanges changes({folder});
  changes.add_others([&] { return others_run; });
  write_text(folder + "/log", "by another");
  changes.before_command();
  write_text(folder + "/log", "by another, once more");
  expect(changes.after_command(true).empty(), "where another program runs, a file that changes by itself is its own");
  changes.before_command();
  others_run = false;
  write_text(folder + "/log", "by its end");
  expect(changes.after_command(true).empty(), "and so are its last lines, in the command that ends it");
  changes.before_command();
  write_text(folder + "/log", "by the next command");
  expect(changes.after_command(true).size() == 1, "behind that, a change is the command's");
  others_run = true;
  write_text(folder + "/log", "by another again");
  changes.changed_by_itself();
  others_run = false;
  changes.before_command();
  write_text(folder + "/log", "by the command");
  expect(changes.after_command(true).size() == 1, "and also where it has ended before the command");
}

/// A server of the user's own, which the agent has not started.
void check_outside(const std::string& folder) {
  bool others_run = false;
  WorkspaceChanges changes({folder});
  changes.add_others([&] { return others_run; });
  write_text(folder + "/log", "from outside");
  changes.before_command();
  write_text(folder + "/log", "from outside, once more");
  others_run = true;
  expect(changes.after_command(true).empty(), "what changes without programs of the agent is from outside");
  write_text(folder + "/log", "from outside, while a job runs");
  expect(!changes.changed_by_itself(), "and known to be so while one runs");
  others_run = false;
  changes.before_command();
  write_text(folder + "/log", "from outside, at last");
  write_text(folder + "/made", "by the command");
  expect(changes.after_command(true) == std::vector<std::string>{folder + "/made"}, "and behind its end");
}

}  // namespace

int main() {
  constexpr uid_t kNobody = 65534;
  std::string all = "/tmp/parlance-changes-XXXXXX";
  expect(::mkdtemp(all.data()) != nullptr, "the folder of all");
  const bool is_ordinary = ::geteuid() != 0 || (::chown(all.c_str(), kNobody, kNobody) == 0 && ::seteuid(kNobody) == 0);
  check_same_contents(new_folder(all));
  check_what_is_read(new_folder(all));
  check_stop(new_folder(all));
  check_long_paths(new_folder(all));
  check_links(new_folder(all));
  check_others(new_folder(all));
  check_outside(new_folder(all));
  for (const mode_t mode : {0000, 0100, 0400})
    if (is_ordinary) check_closed_folder(new_folder(all), mode);
  std::filesystem::remove_all(all);
  std::printf("%d failed\n", failed);
  return failed == 0 ? 0 : 1;
}
