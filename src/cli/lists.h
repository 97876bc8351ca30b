// The names that `parlance list` takes.
#pragma once
#include <string>
#include <vector>

namespace parlance::cli {

std::vector<std::string> list_names();

}  // namespace parlance::cli
