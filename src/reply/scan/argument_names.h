// The names of the arguments that a call has so far, and those of the members of objects that are open in them: does
// one come twice?
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace parlance::reply {

/// What a diagnostic says was due where one comes twice.
inline constexpr const char* kNewArgument = "an argument that the call does not have yet";
inline constexpr const char* kNewMember = "a member that the object does not have yet";

class ArgumentNames {
 public:
  /// False where the name was there before, on its level. Of very many, only the first are known.
  bool add(std::string_view name) {
    constexpr std::size_t kMost = 256;
    // calls are not read by it, so that one may be shared
    const std::size_t hash = std::max<std::size_t>(std::hash<std::string_view>()(name), kLevel + 1);
    for (auto known = hashes_.rbegin(); known != hashes_.rend() && *known != kLevel; ++known) {
      if (*known == hash) return false;
    }
    if (hashes_.size() < kMost) hashes_.push_back(hash);
    return true;
  }
  /// An object begins inside of what was open, and ends.
  void open() { hashes_.push_back(kLevel); }
  void close() {
    while (!hashes_.empty() && hashes_.back() != kLevel) hashes_.pop_back();
    if (!hashes_.empty()) hashes_.pop_back();
  }
  void clear() { hashes_.clear(); }

 private:
  static constexpr std::size_t kLevel = 0;  ///< stands before the names of a level
  std::vector<std::size_t> hashes_;
};

}  // namespace parlance::reply
