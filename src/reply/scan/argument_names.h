// The names of the arguments that a call has so far: does one come twice?
#pragma once
#include <string>
#include <string_view>

#include "reply/scan/held.h"

namespace parlance::reply {

/// What a diagnostic says was due where one comes twice.
inline constexpr const char* kNewArgument = "an argument that the call does not have yet";

class ArgumentNames {
 public:
  /// False where the name was there before. Of very many, only the first are known.
  bool add(std::string_view name) {
    constexpr std::size_t kMost = 4096;
    std::string entry(1, '\0');
    entry.append(name) += '\0';
    if (names_.view().find(entry) != std::string_view::npos) return false;
    if (names_.size() + entry.size() <= kMost) names_ += entry;
    return true;
  }
  void clear() { names_.clear(); }

 private:
  HeldText names_;
};

}  // namespace parlance::reply
