// A Redis that gateways share: asked, and left alone for a while where it fails. Begin reading at SharedRedis::ask.
#include "serve/sessions/shared_redis.h"

#include <algorithm>
#include <latch>

#include "serve/http/in_pool.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kMostThreads = 32;  // they wait for Redis, not for a core

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
std::int64_t ticks(std::chrono::steady_clock::duration time) { return time.count(); }

/// A key that holds something else is nobody's fault but that of who wrote there.
bool is_of_value(const RedisReply& reply) { return reply.text.starts_with("WRONGTYPE"); }

/// What a setting of Redis is; "": it does not tell.
std::string setting_in(const RedisReply& reply, std::string_view name) {
  for (std::size_t at = 0; at + 1 < reply.items.size(); at += 2) {
    if (reply.items[at].text == name) return reply.items[at + 1].text;
  }
  return {};
}

}  // namespace

SharedRedis::SharedRedis(SharedOptions options, Say say)
    : options_(std::move(options)), say_(std::move(say)), pool_(kMostThreads) {}

SharedRedis::~SharedRedis() { pool_.join(); }

Result<void> SharedRedis::open() {
  Result<std::unique_ptr<Redis>> connection = Redis::connect(options_.address, options_.limit);
  if (!connection) return connection.error();
  idle_.push_back(std::move(*connection));
  look_at_settings();
  return {};
}

/// Says what a Redis that is killed may lose of what it has confirmed, unless it can be asked to wait for its disk.
void SharedRedis::look_at_settings() {
  const auto warn = [this](std::string_view what) {
    say_("shared_sessions_unsafe", "Redis at " + options_.address.shown() + " " + std::string(what));
  };
  const Replies replies = ask({{"CONFIG", "GET", "append*"}, {"CONFIG", "GET", "maxmemory*"}});
  const bool told = replies && std::all_of(replies->begin(), replies->end(), [](const RedisReply& reply) {
                      return reply.kind == RedisReply::Kind::list && !reply.items.empty();
                    });
  if (!told) return warn("does not tell its settings (CONFIG GET): nobody has looked whether it is safe from kill -9");
  const bool has_file = setting_in((*replies)[0], "appendonly") == "yes";
  const bool is_late = has_file && setting_in((*replies)[0], "appendfsync") != "always";
  waits_for_disk_ = is_late && knows_waitaof();
  if (!has_file) warn("has no append-only file (appendonly no): if it is killed, turns that were answered are lost");
  if (is_late && !waits_for_disk_)
    warn("may lose the last second of turns that were answered; appendfsync always keeps them");
  if (waits_for_disk_)
    say_("shared_sessions_slow",
         "Redis at " + options_.address.shown() +
             " writes to its disk once a second, and each answer waits for that; appendfsync always is quicker");
  if (setting_in((*replies)[1], "maxmemory") != "0" && setting_in((*replies)[1], "maxmemory-policy") != "noeviction")
    warn("drops sessions when its memory is full; maxmemory-policy noeviction keeps them");
}

/// Redis has it since 7.2.
bool SharedRedis::knows_waitaof() {
  const Replies replies = ask_once({{"WAITAOF", "0", "0", "1"}});
  return replies && replies->front().kind == RedisReply::Kind::list;
}

/// Sends a write, and waits until it is on Redis' disk. "": it is; else why not.
std::string SharedRedis::confirmed(const RedisCommand& command, RedisReply* reply) {
  std::vector<RedisCommand> commands = {command};
  const std::string limit = std::to_string(options_.limit.count() * 3 / 4);
  if (waits_for_disk_) commands.push_back({"WAITAOF", "1", "0", limit});
  const Replies replies = ask(commands);
  if (!replies) return std::string(replies.error().message());
  const RedisReply& done = replies->front();
  if (done.kind == RedisReply::Kind::error) return "Redis at " + options_.address.shown() + ": " + done.text;
  if (reply != nullptr) *reply = done;
  if (!waits_for_disk_ || (!replies->back().items.empty() && replies->back().items.front().number > 0)) return {};
  return "Redis at " + options_.address.shown() + " has not written to its disk in time";
}

SharedRedis::Replies SharedRedis::ask_once(const std::vector<RedisCommand>& commands) {
  std::unique_ptr<Redis> connection;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  const bool was_idle = connection != nullptr;
  for (bool again = was_idle;; again = false) {
    if (connection == nullptr) {
      Result<std::unique_ptr<Redis>> made = Redis::connect(options_.address, options_.limit);
      if (!made) return made.error();
      connection = std::move(*made);
    }
    Replies replies = connection->ask(commands);
    if (replies) {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(connection));
      return replies;
    }
    if (!again || connection->late()) return replies;
    connection.reset();  // it may have been closed while nobody used it
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }
}

/// While Redis is down, one call a second tries; others fail at once.
SharedRedis::Replies SharedRedis::ask(const std::vector<RedisCommand>& commands) {
  if (down_) {
    std::int64_t again = again_;
    const std::int64_t then = now() + ticks(std::chrono::seconds(1));
    if (now() < again || !again_.compare_exchange_strong(again, then)) {
      const std::lock_guard lock(mutex_);
      return Error(ErrorCode::file, why_);
    }
  }
  Replies replies = ask_once(commands);
  if (!replies) {
    fails(std::string(replies.error().message()));
    return replies;
  }
  for (const RedisReply& reply : *replies) {
    if (reply.kind != RedisReply::Kind::error || is_of_value(reply)) continue;
    const std::string why = "Redis at " + options_.address.shown() + ": " + reply.text;
    if (commands.front().front() != "CONFIG") fails(why);
    return Error(ErrorCode::file, why);
  }
  if (down_.exchange(false)) say_("shared_sessions_back", "Redis at " + options_.address.shown() + " answers again");
  return replies;
}

void SharedRedis::fails(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    why_ = why;
  }
  again_ = now() + ticks(std::chrono::seconds(1));
  if (!down_.exchange(true)) say_("shared_sessions_failure", why);
}

/// Says it once in ten seconds at most.
void SharedRedis::refuse(const std::string& why) {
  ++counts_.refused;
  std::int64_t until = quiet_until_;
  if (now() < until && until != 0) return;
  if (quiet_until_.compare_exchange_strong(until, now() + ticks(std::chrono::seconds(10))))
    say_("shared_session_refused", why);
}

std::vector<RedisReply> SharedRedis::read(const std::vector<RedisCommand>& commands) {
  Replies replies = ask(commands);
  if (replies) return std::move(*replies);
  ++counts_.failures;
  if (!options_.optional) throw SharedFailure(std::string(replies.error().message()));
  return std::vector<RedisReply>(commands.size());
}

/// By a write, since a Redis may answer and yet take nothing: its disk is full, it is a replica.
std::string SharedRedis::probe() { return confirmed({"SET", "parlance:probe", "1", "EX", "60"}); }

Task<std::string> SharedRedis::check() {
  if (!down_) co_return std::string();
  const auto work = [this] { return probe(); };
  co_return co_await in_pool(pool_, work);
}

/// Each thread of the pool comes to the latch when it has nothing else left to do.
void SharedRedis::wait() {
  const auto all = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(pool_.size()));
  for (std::size_t number = 0; number < pool_.size(); ++number) pool_.post([all] { all->arrive_and_wait(); });
  all->wait();
}

}  // namespace parlance::serve
