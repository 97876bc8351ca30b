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
/// read_file() of text: fails with value when it is not UTF-8.
Result<std::string> read_text_file(const std::string& path);
bool is_file(const std::string& path);
bool is_folder(const std::string& path);
/// Names of the files in a folder that end in `suffix`, sorted; empty when it cannot be read.
std::vector<std::string> files_in(const std::string& folder, std::string_view suffix);
std::string join_path(const std::string& folder, std::string_view name);

}  // namespace parlance
