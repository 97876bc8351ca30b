// Talks to Redis. Begin reading at Redis::ask.
#include "serve/sessions/redis.h"

#ifdef PARLANCE_HAS_HIREDIS
#include <hiredis/hiredis.h>
#endif

namespace parlance::serve {

#ifndef PARLANCE_HAS_HIREDIS

struct Redis::State {};
Redis::Redis(std::unique_ptr<State> state) : state_(std::move(state)) {}
Redis::~Redis() = default;
Result<std::unique_ptr<Redis>> Redis::connect(const RedisAddress&, std::chrono::milliseconds) {
  return Error(ErrorCode::usage, "this build cannot share sessions").hint("build with libhiredis-dev");
}
Result<std::vector<RedisReply>> Redis::ask(const std::vector<RedisCommand>&) { return broken(""); }
Result<RedisReply> Redis::ask(const RedisCommand&) { return broken(""); }
Error Redis::broken(std::string_view) { return Error(ErrorCode::file, "there is no Redis in this build"); }

#else

struct Redis::State {
  struct End {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, End> context;
  std::string shown;
  std::chrono::milliseconds limit{};
};

namespace {

/// What a reply may have in all; what is larger is none of ours.
constexpr std::size_t kMostBytes = std::size_t{512} << 20;

timeval as_timeval(std::chrono::milliseconds limit) {
  timeval made{};
  made.tv_sec = static_cast<decltype(made.tv_sec)>(limit.count() / 1000);
  made.tv_usec = static_cast<decltype(made.tv_usec)>(limit.count() % 1000 * 1000);
  return made;
}

RedisReply as_reply(const redisReply& from) {
  using Kind = RedisReply::Kind;
  RedisReply made;
  switch (from.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS: made.kind = Kind::text; break;
    case REDIS_REPLY_ERROR: made.kind = Kind::error; break;
    case REDIS_REPLY_INTEGER: made.kind = Kind::number; break;
    case REDIS_REPLY_ARRAY: made.kind = Kind::list; break;
    default: return made;
  }
  made.number = from.integer;
  if (from.str != nullptr) made.text.assign(from.str, from.len);
  for (std::size_t i = 0; made.kind == Kind::list && i < from.elements; ++i)
    made.items.push_back(as_reply(*from.element[i]));
  return made;
}

}  // namespace

Redis::Redis(std::unique_ptr<State> state) : state_(std::move(state)) {}
Redis::~Redis() = default;

Error Redis::broken(std::string_view what) {
  return Error(ErrorCode::file, "Redis at " + state_->shown + ": " + std::string(what));
}

Result<std::unique_ptr<Redis>> Redis::connect(const RedisAddress& address, std::chrono::milliseconds limit) {
  auto state = std::make_unique<State>();
  state->shown = address.shown();
  state->limit = limit;
  const timeval most = as_timeval(limit);
  state->context.reset(address.host.empty() ? redisConnectUnixWithTimeout(address.path.c_str(), most)
                                            : redisConnectWithTimeout(address.host.c_str(), address.port, most));
  std::unique_ptr<Redis> made(new Redis(std::move(state)));
  redisContext* const context = made->state_->context.get();
  if (context == nullptr) return made->broken("out of memory");
  if (context->err != 0) return made->broken(context->errstr);
  redisSetTimeout(context, most);
  if (!address.password.empty()) {
    RedisCommand who = {"AUTH"};
    if (!address.user.empty()) who.push_back(address.user);
    who.push_back(address.password);
    if (const Result<RedisReply> done = made->ask(who); !done) return done.error();
  }
  const std::string database = std::to_string(address.database);
  const RedisCommand first = address.database == 0 ? RedisCommand{"PING"} : RedisCommand{"SELECT", database};
  if (const Result<RedisReply> done = made->ask(first); !done) return done.error();
  return made;
}

/// hiredis waits so long for each piece of a reply; all pieces together may take no longer.
Result<RedisReply> Redis::read(std::chrono::steady_clock::time_point until) {
  redisContext* const context = state_->context.get();
  while (true) {
    void* found = nullptr;
    if (redisGetReplyFromReader(context, &found) != REDIS_OK) return broken(context->errstr);
    if (found != nullptr) {
      const RedisReply made = as_reply(*static_cast<redisReply*>(found));
      freeReplyObject(found);
      return made;
    }
    late_ = std::chrono::steady_clock::now() > until;
    if (late_) return broken("no answer in time");
    if (context->reader->len > kMostBytes) return broken("the answer is too large");
    if (redisBufferRead(context) != REDIS_OK) {
      late_ = std::chrono::steady_clock::now() > until - state_->limit / 10;
      return broken(late_ ? "no answer in time" : context->errstr);
    }
  }
}

Result<std::vector<RedisReply>> Redis::ask(const std::vector<RedisCommand>& commands) {
  redisContext* const context = state_->context.get();
  const auto until = std::chrono::steady_clock::now() + state_->limit;
  for (const RedisCommand& command : commands) {
    std::vector<const char*> parts;
    std::vector<std::size_t> sizes;
    for (const std::string_view part : command) {
      parts.push_back(part.data());
      sizes.push_back(part.size());
    }
    const int done = redisAppendCommandArgv(context, static_cast<int>(parts.size()), parts.data(), sizes.data());
    if (done != REDIS_OK) return broken(context->errstr);
  }
  for (int sent = 0; sent == 0;) {
    late_ = std::chrono::steady_clock::now() > until;
    if (late_) return broken("takes nothing in time");
    if (redisBufferWrite(context, &sent) != REDIS_OK) {
      late_ = std::chrono::steady_clock::now() > until - state_->limit / 10;
      return broken(late_ ? "takes nothing in time" : context->errstr);
    }
  }
  std::vector<RedisReply> replies;
  while (replies.size() < commands.size()) {
    Result<RedisReply> reply = read(until);
    if (!reply) return reply.error();
    replies.push_back(std::move(*reply));
  }
  return replies;
}

Result<RedisReply> Redis::ask(const RedisCommand& command) {
  Result<std::vector<RedisReply>> replies = ask(std::vector<RedisCommand>{command});
  if (!replies) return replies.error();
  RedisReply& reply = replies->front();
  if (reply.kind == RedisReply::Kind::error) return broken(reply.text);
  return std::move(reply);
}

#endif

}  // namespace parlance::serve
