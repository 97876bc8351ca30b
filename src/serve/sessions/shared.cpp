// Keeps conversations in Redis. Begin reading at SharedSessions::write and SharedSessions::by_names.
#include "serve/sessions/shared.h"

#include <algorithm>
#include <latch>

#include "base/sha256.h"
#include "serve/http/in_pool.h"
#include "serve/sessions/saved_held.h"

namespace parlance::serve {

namespace {

constexpr std::size_t kThreads = 32;  // they wait for Redis, not for a core
constexpr std::size_t kMostValue = std::size_t{256} << 20;
constexpr std::size_t kMostName = 256;
constexpr std::size_t kKeySize = 64;

/// KEYS: the conversation, its session, the other names, then `count` conversations that nobody needs any more.
/// A session's last reply is not replaced by an earlier one of the same session, which another gateway was slower with.
constexpr std::string_view kWrite = R"(
local value, seconds, turn, first, key, count = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], tonumber(ARGV[6])
local known = redis.pcall('GET', KEYS[2])
local later = false
if type(known) == 'string' then
  local its_turn, its_first = string.match(known, '^(%d+) (%x+) ')
  later = its_first == first and tonumber(its_turn) > turn
end
redis.call('SET', KEYS[1], value, 'EX', seconds)
if not later then redis.call('SET', KEYS[2], ARGV[3] .. ' ' .. first .. ' ' .. key, 'EX', seconds) end
for i = 3, #KEYS - count do redis.call('SET', KEYS[i], key, 'EX', seconds) end
for i = #KEYS - count + 1, #KEYS do redis.call('DEL', KEYS[i]) end
return 1)";

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
std::int64_t ticks(std::chrono::steady_clock::duration time) { return time.count(); }

std::string redis_name(const ServedModel& model, std::string_view kind, std::string_view name) {
  return "parlance:" + std::string(kind) + ":" + sha256(model.fingerprint + std::string(name));
}
std::string place_of(const ServedModel& model, const Key& key) { return redis_name(model, "turn", name_of_key(key)); }
std::string place_of_name(const ServedModel& model, std::string_view name) { return redis_name(model, "name", name); }

/// The key that a name leads to; "": what is there is none.
Key key_in(std::string_view value) {
  if (value.size() < kKeySize) return {};
  const std::string_view key = value.substr(value.size() - kKeySize);
  const bool is_key = key.find_first_not_of("0123456789abcdef") == key.npos;
  return is_key ? Key(key) : Key();
}

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

SharedSessions::SharedSessions(SharedOptions options, Say say)
    : options_(std::move(options)), say_(std::move(say)), pool_(kThreads) {}

SharedSessions::~SharedSessions() { pool_.join(); }

Result<std::unique_ptr<SharedSessions>> SharedSessions::open(SharedOptions options, Say say) {
  std::unique_ptr<SharedSessions> made(new SharedSessions(std::move(options), std::move(say)));
  Result<std::unique_ptr<Redis>> connection = Redis::connect(made->options_.address, made->options_.limit);
  if (!connection) return connection.error();
  made->idle_.push_back(std::move(*connection));
  made->look_at_settings();
  return made;
}

/// Says what a Redis that is killed may lose of what it has confirmed, unless it can be asked to wait for its disk.
void SharedSessions::look_at_settings() {
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
bool SharedSessions::knows_waitaof() {
  const Replies replies = ask_once({{"WAITAOF", "0", "0", "1"}});
  return replies && replies->front().kind == RedisReply::Kind::list;
}

/// Sends a write, and waits until it is on Redis' disk. "": it is; else why not.
std::string SharedSessions::confirmed(const RedisCommand& command) {
  std::vector<RedisCommand> commands = {command};
  const std::string limit = std::to_string(options_.limit.count() * 3 / 4);
  if (waits_for_disk_) commands.push_back({"WAITAOF", "1", "0", limit});
  const Replies replies = ask(commands);
  if (!replies) return std::string(replies.error().message());
  const RedisReply& done = replies->front();
  if (done.kind == RedisReply::Kind::error) return "Redis at " + options_.address.shown() + ": " + done.text;
  if (!waits_for_disk_ || (!replies->back().items.empty() && replies->back().items.front().number > 0)) return {};
  return "Redis at " + options_.address.shown() + " has not written to its disk in time";
}

SharedSessions::Replies SharedSessions::ask_once(const std::vector<RedisCommand>& commands) {
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
SharedSessions::Replies SharedSessions::ask(const std::vector<RedisCommand>& commands) {
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

void SharedSessions::fails(const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    why_ = why;
  }
  again_ = now() + ticks(std::chrono::seconds(1));
  if (!down_.exchange(true)) say_("shared_sessions_failure", why);
}

/// Says it once in ten seconds at most.
void SharedSessions::refuse(const std::string& why) {
  ++counts_.refused;
  std::int64_t until = quiet_until_;
  if (now() < until && until != 0) return;
  if (quiet_until_.compare_exchange_strong(until, now() + ticks(std::chrono::seconds(10))))
    say_("shared_session_refused", why);
}

std::vector<RedisReply> SharedSessions::read(const std::vector<RedisCommand>& commands) {
  Replies replies = ask(commands);
  if (replies) return std::move(*replies);
  ++counts_.failures;
  if (!options_.optional) throw SharedFailure(std::string(replies.error().message()));
  return std::vector<RedisReply>(commands.size());
}

std::shared_ptr<const Held> SharedSessions::fetch(const std::shared_ptr<const ServedModel>& model, const Key& key) {
  const std::string place = place_of(*model, key), most = std::to_string(kMostValue);
  const std::vector<RedisReply> replies = read({{"GETRANGE", place, "0", most}});
  const RedisReply& reply = replies.front();
  if (reply.kind != RedisReply::Kind::text || reply.text.empty() || reply.text.size() > kMostValue) {
    if (reply.kind == RedisReply::Kind::error || reply.text.size() > kMostValue) refuse(place + " is not ours");
    return nullptr;
  }
  Result<std::shared_ptr<const Held>> held = restore(reply.text, model);
  if (held && (*held)->key == key) return *held;
  refuse(place + ": " + (held ? "it is another conversation" : std::string(held.error().message())));
  return nullptr;
}

std::shared_ptr<const Held> SharedSessions::by_keys(const std::shared_ptr<const ServedModel>& model,
                                                    const std::vector<Key>& keys) {
  std::vector<std::string> places;
  for (const Key& key : keys) places.push_back(place_of(*model, key));
  std::vector<RedisCommand> commands;
  for (const std::string& place : places) commands.push_back({"EXISTS", place});
  const std::vector<RedisReply> replies = read(commands);
  for (std::size_t at = 0; at < keys.size(); ++at) {
    if (replies[at].number == 0) continue;
    if (std::shared_ptr<const Held> held = fetch(model, keys[at])) {
      ++counts_.hits;
      return held;
    }
  }
  ++counts_.misses;
  return nullptr;
}

std::shared_ptr<const Held> SharedSessions::by_names(const std::shared_ptr<const ServedModel>& model,
                                                     const std::vector<std::string>& names) {
  std::vector<std::string> places;
  for (const std::string& name : names) places.push_back(place_of_name(*model, name));
  const std::string most = std::to_string(kMostName);
  std::vector<RedisCommand> commands;
  for (const std::string& place : places) commands.push_back({"GETRANGE", place, "0", most});
  for (const RedisReply& reply : read(commands)) {
    const bool is_there = reply.kind == RedisReply::Kind::error || !reply.text.empty();
    const Key key = reply.kind == RedisReply::Kind::text ? key_in(reply.text) : Key();
    if (is_there && key.empty()) refuse("a name leads to what is no conversation");
    if (key.empty()) continue;
    if (std::shared_ptr<const Held> held = fetch(model, key)) {
      ++counts_.hits;
      return held;
    }
  }
  ++counts_.misses;
  return nullptr;
}

std::string SharedSessions::write(const Held& held, std::string_view owner) {
  const ServedModel& model = *held.model;
  const std::string value = save(held);
  if (value.size() > kMostValue) {
    ++counts_.failures;
    return "the conversation is larger than what gateways share (" + std::to_string(kMostValue >> 20) + " MiB)";
  }
  std::vector<std::string> places = {place_of(model, held.key), place_of_name(model, name_of_session(held.id, owner)),
                                     place_of_name(model, name_of_rest(held.key_without_system)),
                                     place_of_name(model, name_of_response(held.response_id, owner))};
  const bool supersedes = !held.superseded.empty() && held.superseded != held.key;
  if (supersedes) places.push_back(place_of(model, held.superseded));
  const std::string keys = std::to_string(places.size()), seconds = std::to_string(options_.lifetime.count());
  const std::string turn = std::to_string(held.turn);
  RedisCommand command = {"EVAL", kWrite, keys};
  command.insert(command.end(), places.begin(), places.end());
  const Key& first = held.first.empty() ? held.key : held.first;
  for (const std::string_view argument : {std::string_view(value), std::string_view(seconds), std::string_view(turn),
                                          std::string_view(first), std::string_view(held.key)})
    command.push_back(argument);
  command.push_back(supersedes ? "1" : "0");
  std::string why = confirmed(command);
  ++(why.empty() ? counts_.kept : counts_.failures);
  return why;
}

Task<std::string> SharedSessions::keep(std::shared_ptr<const Held> held, std::string owner) {
  const auto work = [this, &held, &owner] { return write(*held, owner); };
  co_return co_await in_pool(pool_, work);
}

/// By a write, since a Redis may answer and yet take nothing: its disk is full, it is a replica.
std::string SharedSessions::probe() { return confirmed({"SET", "parlance:probe", "1", "EX", "60"}); }

Task<std::string> SharedSessions::check() {
  if (!down_) co_return std::string();
  const auto work = [this] { return probe(); };
  co_return co_await in_pool(pool_, work);
}

/// Each thread of the pool comes to the latch when it has nothing else left to do.
void SharedSessions::wait() {
  const auto all = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(kThreads));
  for (std::size_t number = 0; number < kThreads; ++number) asio::post(pool_, [all] { all->arrive_and_wait(); });
  all->wait();
}

}  // namespace parlance::serve
