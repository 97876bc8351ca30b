// SharedSessions: conversations in Redis, which several gateways share.
//
// Two kinds of keys, of which each begins with "parlance:": one holds a turn under its name, the other leads from
// another name (a key of its messages, a session, a response) to that. The names are hashed together with the model's
// fingerprint. The last turn of a lineage is there as a whole, earlier ones as what each has beyond the one before.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/task.h"
#include "serve/models/model.h"
#include "serve/sessions/shared_redis.h"
#include "serve/sessions/store.h"

namespace parlance::serve {

/// Threads: any. It has to end before the context of the coroutines that wait for it.
class SharedSessions {
 public:
  using Say = SharedRedis::Say;
  /// Fails with file if Redis cannot be asked. Warns if a Redis that is killed may lose turns.
  static Result<std::unique_ptr<SharedSessions>> open(SharedOptions options, Say say);

  /// The turn of the first of these names (store.h) that is there; null: none is. Waits for Redis in this thread, which
  /// should be one of pool(). Throws SharedFailure.
  std::shared_ptr<const Held> by_names(const std::shared_ptr<const ServedModel>& model,
                                       const std::vector<std::string>& names, std::string_view owner);
  /// For who keeps something else there.
  SharedRedis& redis() { return redis_; }
  const SharedRedis& redis() const { return redis_; }
  WorkerPool& pool() { return redis_.pool(); }

  /// Redis has confirmed the turn when this returns. Returns why it has not; "": it has. `from`: the one that it goes
  /// on from, or null, which is kept as what it has beyond the one before.
  Task<std::string> keep(std::shared_ptr<const Held> held, std::shared_ptr<const Held> from, std::string owner);
  /// A turn has this name no more (store.h). Returns why it still has; "": it has not.
  Task<std::string> forget(std::shared_ptr<const ServedModel> model, std::string name);
  Task<std::string> check() { return redis_.check(); }
  void wait() { redis_.wait(); }
  bool optional() const { return redis_.options().optional; }

  struct Counts {
    std::atomic<std::uint64_t> hits = 0, misses = 0;  ///< of conversations that were looked for
    std::atomic<std::uint64_t> kept = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  SharedSessions(SharedOptions options, Say say);
  std::shared_ptr<const Held> fetch(const std::shared_ptr<const ServedModel>& model, const TurnName& turn);
  std::vector<std::string> before(std::string_view place);
  std::string write(const Held& held, const Held* from, std::string_view owner);

  Counts counts_;
  SharedRedis redis_;  // ends first: its threads count
};

}  // namespace parlance::serve
