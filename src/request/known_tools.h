// KnownTools: the tools of the last requests, since the next request of an agent has the same. Begin reading at
// KnownTools::from_json.
#pragma once
#include <list>
#include <string>

#include "base/fork_lock.h"
#include "parlance/reply.h"

namespace parlance {

/// Threads: any.
class KnownTools {
 public:
  /// ReplyTools::from_json(), which reads a text anew only if it is none of the last few, or is long.
  Result<ReplyTools> from_json(std::string json);

 private:
  struct Known {
    std::string json;
    ReplyTools tools;
  };
  bool find(const std::string& json, ReplyTools& tools);

  BriefMutex mutex_;
  std::list<Known> known_;  ///< the one that was asked for last in front
};

}  // namespace parlance
