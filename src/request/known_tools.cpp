// Remembers tools.
#include "request/known_tools.h"

#include <algorithm>

namespace parlance {

bool KnownTools::find(const std::string& json, ReplyTools& tools) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& one) { return one.json == json; });
  if (found == known_.end()) return false;
  tools = found->tools;
  known_.splice(known_.begin(), known_, found);
  return true;
}

/// Two threads may read the same text at once; both results are the same.
Result<ReplyTools> KnownTools::from_json(std::string json) {
  constexpr std::size_t kMost = 16, kLongest = std::size_t{1} << 20;
  ReplyTools tools;
  if (find(json, tools)) return tools;
  Result<ReplyTools> made = ReplyTools::from_json(json, "tools");
  if (!made || json.size() > kLongest) return made;
  const std::lock_guard lock(mutex_);
  known_.push_front({std::move(json), *made});
  if (known_.size() > kMost) known_.pop_back();
  return made;
}

}  // namespace parlance
