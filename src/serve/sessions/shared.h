// SharedSessions: conversations in Redis, which several gateways share.
//
// Two kinds of keys, of which each begins with "parlance:": one holds a turn under its name, the other leads from
// another name (a key of its messages, a session, a response) to that. The names are hashed together with the model's
// fingerprint. The last turn of a lineage is there as a whole, earlier ones as what each has beyond the one before.
#pragma once
#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/task.h"
#include "serve/models/model.h"
#include "serve/sessions/redis.h"
#include "serve/sessions/store.h"

namespace parlance::serve {

/// Redis cannot be asked, and it is not optional.
class SharedFailure : public std::exception {
 public:
  explicit SharedFailure(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

struct SharedOptions {
  RedisAddress address;
  std::chrono::seconds lifetime = std::chrono::hours(24);  ///< of a conversation, from its last reply on
  std::chrono::milliseconds limit = std::chrono::seconds(2);
  bool optional = false;  ///< a turn is answered also if it cannot be shared
};

/// Threads: any. It has to end before the context of the coroutines that wait for it.
class SharedSessions {
 public:
  /// Is told what an operator should know: an event, and a sentence.
  using Say = std::function<void(std::string_view event, std::string_view message)>;
  /// Fails with file if Redis cannot be asked. Warns if a Redis that is killed may lose turns.
  static Result<std::unique_ptr<SharedSessions>> open(SharedOptions options, Say say);
  ~SharedSessions();

  /// The turn of the first of these names (store.h) that is there; null: none is. Waits for Redis in this thread, which
  /// should be one of pool(). Throws SharedFailure.
  std::shared_ptr<const Held> by_names(const std::shared_ptr<const ServedModel>& model,
                                       const std::vector<std::string>& names, std::string_view owner);
  /// For work that waits for Redis.
  asio::thread_pool& pool() { return pool_; }

  /// Redis has confirmed the turn when this returns. Returns why it has not; "": it has. `from`: the one that it goes
  /// on from, or null, which is kept as what it has beyond the one before.
  Task<std::string> keep(std::shared_ptr<const Held> held, std::shared_ptr<const Held> from, std::string owner);
  /// A turn has this name no more (store.h). Returns why it still has; "": it has not.
  Task<std::string> forget(std::shared_ptr<const ServedModel> model, std::string name);
  /// If Redis failed lately, tries whether it takes anything by now. Returns why it does not.
  Task<std::string> check();
  /// Waits until no coroutine waits for Redis. Call it before their context ends.
  void wait();
  bool optional() const { return options_.optional; }

  struct Counts {
    std::atomic<std::uint64_t> hits = 0, misses = 0;  ///< of conversations that were looked for
    std::atomic<std::uint64_t> refused = 0;           ///< values that nobody can go on from
    std::atomic<std::uint64_t> kept = 0, failures = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  SharedSessions(SharedOptions options, Say say);
  using Replies = Result<std::vector<RedisReply>>;
  Replies ask(const std::vector<RedisCommand>& commands);
  Replies ask_once(const std::vector<RedisCommand>& commands);
  std::vector<RedisReply> read(const std::vector<RedisCommand>& commands);
  std::shared_ptr<const Held> fetch(const std::shared_ptr<const ServedModel>& model, const TurnName& turn);
  std::vector<std::string> before(std::string_view place);
  std::string write(const Held& held, const Held* from, std::string_view owner);
  std::string probe();
  void fails(const std::string& why);
  void refuse(const std::string& why);
  void look_at_settings();
  bool knows_waitaof();
  std::string confirmed(const RedisCommand& command);

  const SharedOptions options_;
  const Say say_;
  bool waits_for_disk_ = false;  ///< Redis confirms a command before its disk has it, and can be asked for the latter
  std::mutex mutex_;
  std::vector<std::unique_ptr<Redis>> idle_;  ///< connections that nobody uses at the moment
  std::string why_;                           ///< Redis failed the last time
  std::atomic<bool> down_ = false;            ///< it did
  std::atomic<std::int64_t> again_ = 0;       ///< when it is asked again, by the steady clock
  std::atomic<std::int64_t> quiet_until_ = 0;
  Counts counts_;
  asio::thread_pool pool_;
};

}  // namespace parlance::serve
