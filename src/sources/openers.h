// One opener for each kind of source; the table of them is in sources.cpp.
#pragma once
#include <string>

#include "parlance/source.h"

namespace parlance {

bool is_plain_file(const std::string& path);
Result<ModelSource> open_plain_file(const std::string& path);

/// A folder, or a tokenizer_config.json by itself.
bool is_hf_folder(const std::string& path);
Result<ModelSource> open_hf_folder(const std::string& path);

}  // namespace parlance
