// The names of the arguments that a call has so far: does one come twice?
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace parlance::reply {

/// What a diagnostic says was due where one comes twice.
inline constexpr const char* kNewArgument = "an argument that the call does not have yet";

class ArgumentNames {
 public:
  /// False where the name was there before. Of very many, only the first are known.
  bool add(std::string_view name) {
    constexpr std::size_t kMost = 256;
    const std::size_t hash =
        std::hash<std::string_view>()(name);  // calls are not read by it, so that one may be shared
    if (std::find(hashes_.begin(), hashes_.end(), hash) != hashes_.end()) return false;
    if (hashes_.size() < kMost) hashes_.push_back(hash);
    return true;
  }
  void clear() { hashes_.clear(); }

 private:
  std::vector<std::size_t> hashes_;
};

}  // namespace parlance::reply
