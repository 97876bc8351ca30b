// The names of files as clients learn them.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace parlance::serve {

/// In which folders a model's files are concerns no client. A name that is none of a file stays as it is.
inline std::string without_folders(std::string_view path) { return std::filesystem::path(path).filename().string(); }

}  // namespace parlance::serve
