// Files through C's stdio: read to the end, whatever the file system says the size is.
#include "sources/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/nearest.h"
#include "base/packed.h"
#include "base/utf8.h"
#include "value/runtime.h"

namespace parlance {
namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// "did you mean 'x'?" for the name in its folder nearest to a path that is not there; of a link, where it leads.
std::string hint_for(const std::string& path) {
  const fs::path missing(path);
  std::error_code no_link;
  const fs::path target = fs::read_symlink(missing, no_link);
  if (!no_link) return "it is a link to '" + target.string() + "', which is not there";
  const std::string name = missing.filename().string();
  NearestName nearest(name);
  constexpr int kEnough = 1000;
  int seen = 0;
  std::error_code failed;
  const fs::path folder = missing.has_parent_path() ? missing.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end && seen < kEnough; ++seen) {
    nearest.offer(entry->path().filename().string());
    entry.increment(failed);
  }
  return nearest.hint();
}

/// Room for what the file system says there is, and a little more: so much that the end is seen at
/// once, and that a reader of JSON finds its padding (Conversation::consume).
std::size_t first_room(const std::string& path) {
  constexpr std::size_t kLeast = 4 << 10, kMost = 16 << 20, kMore = 128;
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(path, failed);
  return failed ? kLeast : std::clamp<std::size_t>(size + kMore, kLeast, kMost);
}

}  // namespace

Error file_error(const std::string& path, int system_error) {
  const std::string shown = path.empty() ? "''" : path;
  const Error error(ErrorCode::file, shown + ": " + std::strerror(system_error));
  return system_error == ENOENT ? error.hint(hint_for(path)) : error;
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  errno = 0;
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return file_error(path, errno);
  std::string text;
  std::size_t size = 0;
  for (std::size_t room = first_room(path);; room = size) {
    text.resize(size + room);
    const std::size_t got = std::fread(text.data() + size, 1, room, file.get());
    size += got;
    if (size > limit) return Error(ErrorCode::file, path + ": larger than " + std::to_string(limit >> 20) + " MiB");
    if (got < room) break;
  }
  if (std::ferror(file.get()) != 0) return file_error(path, errno);
  text.resize(size);
  return text;
}

Result<std::string> read_file(const std::string& path) { return read_file(path, Runtime::kMaxText - 1); }

Result<std::string> read_text_file(const std::string& path) {
  Result<std::string> text = read_file(path, kMaxConfiguration);
  if (!text || utf8::is_valid(*text, false)) return text;
  return Error(ErrorCode::file, path + ": not UTF-8").hint(std::string(hint_for_bytes(*text)));
}

bool is_file(const std::string& path) {
  std::error_code failed;
  const fs::file_status found = fs::status(path, failed);
  if (found.type() != fs::file_type::not_found) return found.type() == fs::file_type::regular;
  return fs::is_symlink(fs::symlink_status(path, failed));
}

bool is_folder(const std::string& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

bool is_there(const std::string& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

std::string canonical(const std::string& path) {
  std::error_code failed;
  const fs::path found = fs::weakly_canonical(path, failed);
  return failed ? path : found.string();
}

std::vector<std::string> files_in(const std::string& folder, std::string_view suffix) {
  std::vector<std::string> names = names_in(folder);
  std::erase_if(names,
                [suffix](const std::string& name) { return name.size() <= suffix.size() || !name.ends_with(suffix); });
  return names;
}

std::vector<std::string> names_in(const std::string& folder, std::size_t limit) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end && names.size() < limit;
       entry.increment(failed)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string_view file_name_of(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

std::string join_path(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / fs::path(name)).string();
}

}  // namespace parlance
