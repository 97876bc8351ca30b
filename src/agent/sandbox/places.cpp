// The table of folders, and the walk through /etc. Begin reading at checked.
#include "agent/sandbox/places.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>

namespace parlance::agent {

namespace {

constexpr const char* kSystemFolders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32", "/opt"};

/// A workspace that is one of these, or around one of these, would put the system into the commands' hands.
constexpr const char* kNeverWritable[] = {"/usr", "/bin", "/sbin", "/lib",  "/lib64", "/etc",     "/boot",
                                          "/dev", "/sys", "/proc", "/root", "/run",   "/var/lib", "/var/run"};

constexpr int kMostDepth = 6;

bool is_public(const struct stat& facts) {
  const mode_t needed = S_ISDIR(facts.st_mode) ? (S_IROTH | S_IXOTH) : S_IROTH;
  return S_ISLNK(facts.st_mode) || (facts.st_mode & needed) == needed;
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    entries.push_back(each->path().string());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

void find_private(const std::string& path, int depth, std::vector<std::string>& found) {
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0) return;
  const bool is_folder = S_ISDIR(facts.st_mode);
  if (!is_public(facts) || (is_folder && depth == kMostDepth)) {  // nobody has looked at what is deeper
    found.push_back(path);
  } else if (is_folder) {
    for (const std::string& entry : entries_of(path)) find_private(entry, depth + 1, found);
  }
}

bool copy_public_entry(const std::string& from, const std::string& to, int depth) {
  std::error_code error;
  struct stat facts {};
  if (lstat(from.c_str(), &facts) != 0 || !is_public(facts)) return true;
  if (S_ISLNK(facts.st_mode)) {
    std::filesystem::copy_symlink(from, to, error);
  } else if (S_ISREG(facts.st_mode)) {
    std::filesystem::copy_file(from, to, error);
  } else if (S_ISDIR(facts.st_mode) && depth < kMostDepth) {
    if (mkdir(to.c_str(), 0755) != 0) return false;
    bool is_whole = true;
    for (const std::string& entry : entries_of(from))
      is_whole = copy_public_entry(entry, to + entry.substr(from.size()), depth + 1) && is_whole;
    return is_whole;
  }
  return !error;
}

void find_public(const std::string& path, const std::vector<std::string>& hidden, std::vector<std::string>& found) {
  const auto within = [&](const std::string& entry) { return is_within(entry, path); };
  if (std::find(hidden.begin(), hidden.end(), path) != hidden.end() || std::filesystem::is_symlink(path)) return;
  if (std::none_of(hidden.begin(), hidden.end(), within)) {
    found.push_back(path);
    return;
  }
  for (const std::string& entry : entries_of(path)) find_public(entry, hidden, found);
}

Error refusal(const std::string& path, const std::string& reason) {
  return Error(ErrorCode::usage, path + ": " + reason);
}

Result<std::string> resolved(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::canonical(path, error);
  if (error) return refusal(path, "there is no such folder or file");
  return found.string();
}

/// The path as it was given, from / on.
std::string named_path(const std::string& path) {
  std::error_code error;
  std::string named = std::filesystem::absolute(path, error).lexically_normal().string();
  if (named.size() > 1 && named.ends_with('/')) named.pop_back();
  return named;
}

/// A link that is followed, and where it stands.
struct FollowedLink {
  std::string place;
  std::string target;
};

/// The links that a path leads over, in their order, also those in the targets of others. It ends where nothing is.
std::vector<FollowedLink> links_on_the_way(const std::string& path) {
  constexpr std::size_t kMostLinks = 64;  // the kernel follows 40
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  std::deque<std::filesystem::path> rest(whole.begin(), whole.end());
  std::filesystem::path at = "/";
  std::vector<FollowedLink> found;
  while (!rest.empty() && found.size() < kMostLinks) {
    const std::filesystem::path part = std::move(rest.front());
    rest.pop_front();
    if (part.empty() || part == "." || part == "/") continue;
    const std::filesystem::path next = part == ".." ? at.parent_path() : at / part;
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(next, error))) {
      at = next;
      continue;
    }
    const std::filesystem::path target = std::filesystem::read_symlink(next, error);
    found.push_back({next.string(), target.string()});
    if (target.is_absolute()) at = "/";
    rest.insert(rest.begin(), target.begin(), target.end());
  }
  return found;
}

/// The first link on the way that commands may have put there.
std::optional<FollowedLink> link_of_theirs(const SandboxPolicy& policy, const std::string& path) {
  for (FollowedLink& link : links_on_the_way(path))
    if (is_theirs(policy, link.place)) return std::move(link);
  return std::nullopt;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// The homes of people, whose keys a workspace around them would show. /etc/passwd is read by itself: a static program
/// has no getpwent() that is sure to work.
std::vector<std::string> homes() {
  std::vector<std::string> found{"/root"};
  const std::unique_ptr<std::FILE, CloseFile> users(std::fopen("/etc/passwd", "re"));
  while (const passwd* user = users ? ::fgetpwent(users.get()) : nullptr) {
    std::error_code missing;
    const std::filesystem::path home = std::filesystem::canonical(user->pw_dir, missing);
    if (!missing && home.is_absolute() && home != "/") found.push_back(home.string());
  }
  if (const char* home = std::getenv("HOME"); home && *home == '/') {
    std::error_code error;
    found.push_back(std::filesystem::weakly_canonical(home, error).string());
  }
  return found;
}

Result<void> check_writable(const std::string& path) {
  for (const char* folder : kNeverWritable) {
    if (is_within(folder, path)) return refusal(path, "commands would change the system; choose a folder of a project");
    const bool in_system = std::string_view(folder) != "/root" && is_within(path, folder);
    if (in_system) return refusal(path, "this belongs to the system; choose a folder of a project");
  }
  for (const std::string& home : homes()) {
    if (is_within(home, path)) {
      return refusal(path, "this holds a home directory with its keys; choose a folder in it");
    }
  }
  return {};
}

/// Leaves out what lies within a folder that commands may change.
void keep_outermost(SandboxPolicy& policy) {
  std::vector<std::string> kept;
  for (std::size_t at = 0; at < policy.writable.size(); ++at) {
    const std::string& path = policy.writable[at];
    const auto covers = [&path](const std::string& other) { return is_within(path, other) && path != other; };
    const bool is_covered = is_within(path, policy.workspace) || std::ranges::any_of(policy.writable, covers);
    if (!is_covered && std::ranges::find(kept, path) == kept.end()) kept.push_back(path);
  }
  policy.writable = std::move(kept);
  std::erase_if(policy.readable, [&policy](const std::string& path) { return is_theirs(policy, path); });
}

/// What an earlier run left in the place of a folder would be opened as if the user had named it.
Result<void> check_links(const SandboxPolicy& policy, const std::vector<std::string>& named) {
  for (const std::string& path : named) {
    if (Result<void> fine = check_way(policy, path); !fine) return fine;
  }
  return {};
}

/// The folders of PATH that the sandbox shows.
std::string visible_path(const SandboxPolicy& policy) {
  const char* given = std::getenv("PATH");
  std::string all = given ? given : "", kept;
  for (std::size_t from = 0; from <= all.size();) {
    const std::size_t to = std::min(all.find(':', from), all.size());
    const std::string folder = all.substr(from, to - from);
    const auto shows = [&](const std::string& place) { return is_within(folder, place); };
    const bool visible = std::any_of(system_folders().begin(), system_folders().end(), shows) ||
                         std::any_of(policy.readable.begin(), policy.readable.end(), shows) ||
                         std::any_of(policy.writable.begin(), policy.writable.end(), shows) || shows(policy.workspace);
    if (visible && !folder.empty()) kept.append(kept.empty() ? "" : ":").append(folder);
    from = to + 1;
  }
  for (const char* needed : {"/usr/local/bin", "/usr/bin", "/bin"}) {
    if ((":" + kept + ":").find(":" + std::string(needed) + ":") == std::string::npos) kept.append(":").append(needed);
  }
  return kept.front() == ':' ? kept.substr(1) : kept;
}

}  // namespace

const char* name_of(SandboxKind kind) {
  constexpr const char* kNames[] = {"bubblewrap", "landlock", "none"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<std::string> changeable(const SandboxPolicy& policy) {
  std::vector<std::string> folders = policy.writable;
  const auto holds = [&policy](const std::string& folder) { return is_within(policy.workspace, folder); };
  if (std::ranges::none_of(folders, holds)) folders.push_back(policy.workspace);
  return folders;
}

std::vector<std::string> shown_paths(const SandboxPolicy& policy) {
  std::vector<std::string> shown = changeable(policy);
  shown.insert(shown.end(), policy.readable.begin(), policy.readable.end());
  return shown;
}

const std::vector<std::string>& system_folders() {
  static const std::vector<std::string> found = [] {
    std::vector<std::string> folders;
    for (const char* folder : kSystemFolders) {
      if (std::filesystem::exists(std::filesystem::symlink_status(folder))) folders.emplace_back(folder);
    }
    return folders;
  }();
  return found;
}

bool is_within(std::string_view path, std::string_view folder) {
  if (folder == "/") return !path.empty() && path.front() == '/';
  return path.substr(0, folder.size()) == folder && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool is_theirs(const SandboxPolicy& policy, std::string_view path) {
  const auto holds = [path](const std::string& folder) { return is_within(path, folder); };
  return holds(policy.workspace) || std::ranges::any_of(policy.writable, holds);
}

bool leads_over_theirs(const SandboxPolicy& policy, const std::string& path) {
  return is_theirs(policy, named_path(path)) || link_of_theirs(policy, path).has_value();
}

Result<void> check_way(const SandboxPolicy& policy, const std::string& path) {
  const std::optional<FollowedLink> link = link_of_theirs(policy, path);
  if (!link) return {};
  const std::string what = "this leads over the link " + link->place + " to " + link->target;
  return Error(ErrorCode::usage, path + ": " + what + ", and commands may have put this link there")
      .hint("look at the link; if it is yours, name what it leads to");
}

std::vector<std::string> private_entries(const std::string& folder) {
  std::vector<std::string> found;
  find_private(folder, 0, found);
  return found;
}

std::vector<std::string> public_parts(const std::string& folder) {
  std::vector<std::string> found;
  find_public(folder, private_entries(folder), found);
  return found;
}

bool copy_public(const std::string& folder, const std::string& to) { return copy_public_entry(folder, to, 0); }

Result<SandboxPolicy> checked(SandboxPolicy policy) {
  std::vector<std::string> all_named{policy.workspace};
  all_named.insert(all_named.end(), policy.writable.begin(), policy.writable.end());
  all_named.insert(all_named.end(), policy.readable.begin(), policy.readable.end());
  Result<std::string> workspace = resolved(policy.workspace);
  if (!workspace) return workspace.error();
  policy.workspace = *workspace;
  if (!std::filesystem::is_directory(policy.workspace)) return refusal(policy.workspace, "the workspace is no folder");
  if (access(policy.workspace.c_str(), R_OK | W_OK | X_OK) != 0)
    return refusal(policy.workspace, std::string("you may not write in the workspace: ") + std::strerror(errno));
  for (std::vector<std::string>* list : {&policy.writable, &policy.readable}) {
    for (std::string& path : *list) {
      Result<std::string> found = resolved(path);
      if (!found) return found.error();
      const std::string named = named_path(path);
      const std::pair<std::string, std::string> link(named, *found);
      const bool is_new = std::find(policy.links.begin(), policy.links.end(), link) == policy.links.end();
      if (named != *found && is_new) policy.links.push_back(link);
      path = *found;
    }
  }
  if (Result<void> fine = check_links(policy, all_named); !fine) return fine.error();
  std::vector<std::string> changed = policy.writable;
  changed.push_back(policy.workspace);
  for (const std::string& path : changed) {
    if (Result<void> fine = check_writable(path); !fine) return fine.error();
  }
  keep_outermost(policy);
  return policy;
}

std::vector<std::string> environment_of(const SandboxPolicy& policy, const std::string& home,
                                        const std::string& temporary) {
  std::vector<std::string> variables{"TERM=dumb",
                                     "PAGER=cat",
                                     "GIT_PAGER=cat",
                                     "MANPAGER=cat",
                                     "SYSTEMD_PAGER=",
                                     "GIT_EDITOR=true",
                                     "EDITOR=true",
                                     "VISUAL=true",
                                     "NO_COLOR=1",
                                     "PYTHONUNBUFFERED=1",
                                     "GIT_TERMINAL_PROMPT=0",
                                     "DEBIAN_FRONTEND=noninteractive",
                                     "PIP_NO_INPUT=1",
                                     "SHELL=/bin/bash",
                                     "USER=agent",
                                     "LOGNAME=agent",
                                     "MPLBACKEND=Agg",
                                     "HOME=" + home,
                                     "TMPDIR=" + temporary,
                                     "PATH=" + visible_path(policy)};
  for (const std::string& name : policy.environment) {
    if (const char* value = std::getenv(name.c_str())) variables.push_back(name + "=" + value);
  }
  return variables;
}

}  // namespace parlance::agent
