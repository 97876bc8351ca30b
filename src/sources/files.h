// Reading files and folders: every failure is an Error of the code `file` that names the path.
#pragma once
#include <string>
#include <vector>

#include "parlance/source.h"

namespace parlance {

/// The largest template or configuration file that is read. The largest in use are some hundred
/// KiB.
inline constexpr std::size_t kMaxConfiguration = std::size_t{64} << 20;

/// Reads a whole file (or pipe) of at most `limit` bytes.
Result<std::string> read_file(const std::string& path, std::size_t limit);
/// read_file() of text: fails with file when it is not UTF-8, too.
Result<std::string> read_text_file(const std::string& path);
/// Also a link that leads nowhere: reading it fails and says so, where a file that is not there is passed over.
bool is_file(const std::string& path);
bool is_folder(const std::string& path);
bool is_there(const std::string& path);
/// The path without symbolic links, dots and doubled slashes, as far as it exists: to tell whether
/// two are the same.
std::string canonical(const std::string& path);
/// Names of the files in a folder that end in `suffix`, sorted; empty when it cannot be read.
std::vector<std::string> files_in(const std::string& folder, std::string_view suffix);
/// Names of everything in a folder, sorted, at most `limit`; empty when it cannot be read.
std::vector<std::string> names_in(const std::string& folder, std::size_t limit = 10000);
std::string join_path(const std::string& folder, std::string_view name);
/// The folder that a path lies in; "." for a name alone.
std::string folder_of(const std::string& path);
std::string_view file_name_of(std::string_view path);

}  // namespace parlance
