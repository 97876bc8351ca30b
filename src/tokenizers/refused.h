// The error of a file that is no tokenizer that can be opened.
#pragma once
#include <string>
#include <utility>

#include "parlance/error.h"

namespace parlance {

inline Error refused(const std::string& path, const std::string& what, std::string hint = {}) {
  return Error(ErrorCode::tokenizer, path + ": " + what).hint(std::move(hint));
}

}  // namespace parlance
