// SharedRedis: the Redis that several gateways share, as one of them has it: connections, and what to do while it is
// down.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/task.h"
#include "serve/http/worker_pool.h"
#include "serve/sessions/redis.h"

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
class SharedRedis {
 public:
  /// Is told what an operator should know: an event, and a sentence.
  using Say = std::function<void(std::string_view event, std::string_view message)>;
  using Replies = Result<std::vector<RedisReply>>;
  SharedRedis(SharedOptions options, Say say);
  ~SharedRedis();

  /// Fails with file if Redis cannot be asked. Warns if a Redis that is killed may lose turns.
  Result<void> open();

  // These wait for Redis in the calling thread, which should be one of pool().

  /// A reply for each command. Throws SharedFailure; where Redis is optional, there is nothing in the replies then.
  std::vector<RedisReply> read(const std::vector<RedisCommand>& commands);
  /// Sends a write, and waits until it is on Redis' disk. Returns why it is not; "": it is. `reply`: what Redis said.
  std::string confirmed(const RedisCommand& command, RedisReply* reply = nullptr);

  /// For work that waits for Redis.
  WorkerPool& pool() { return pool_; }
  /// Held by who changes what is at this place, so that others of this gateway do not try it at the same time.
  std::mutex& turn_at(std::string_view place) { return turns_[std::hash<std::string_view>()(place) % turns_.size()]; }
  /// If Redis failed lately, tries whether it takes anything by now. Returns why it does not.
  Task<std::string> check();
  /// Waits until no coroutine waits for Redis. Call it before their context ends.
  void wait();
  /// Counts and says that a value is not what a gateway wrote.
  void refuse(const std::string& why);
  const SharedOptions& options() const { return options_; }

  struct Counts {
    std::atomic<std::uint64_t> refused = 0;  ///< values that nobody can go on from
    std::atomic<std::uint64_t> failures = 0;
  };
  Counts& counts() { return counts_; }
  const Counts& counts() const { return counts_; }

 private:
  Replies ask(const std::vector<RedisCommand>& commands);
  Replies ask_once(const std::vector<RedisCommand>& commands);
  std::string probe();
  void fails(const std::string& why);
  void look_at_settings();
  bool knows_waitaof();

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
  std::array<std::mutex, 64> turns_;
  WorkerPool pool_;
};

}  // namespace parlance::serve
