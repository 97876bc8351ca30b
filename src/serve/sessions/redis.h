// Redis: a connection to a Redis or Valkey server, by hiredis.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/result.h"

namespace parlance::serve {

/// Where a server is, and who asks it.
struct RedisAddress {
  std::string host;  ///< "": it is at a socket of this machine,
  std::uint16_t port = 6379;
  std::string path{};  ///< which is here
  std::string user{}, password{};
  unsigned database = 0;

  /// "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]" or "unix:///PATH[?db=DATABASE]". Fails with usage.
  static Result<RedisAddress> parse(std::string_view url);
  /// Without user and password.
  std::string shown() const;
};

struct RedisReply {
  enum class Kind : std::uint8_t { nothing, text, number, list, error };
  Kind kind = Kind::nothing;
  std::string text{};  ///< of an error too: "WRONGTYPE …"
  long long number = 0;
  std::vector<RedisReply> items{};
};

/// One command: its name and its arguments, any bytes.
using RedisCommand = std::vector<std::string_view>;

/// A connection. It waits in the calling thread, `limit` at most for each call. Threads: one at a time.
class Redis {
 public:
  /// Fails with file: nobody is there, or refuses the password or the database.
  static Result<std::unique_ptr<Redis>> connect(const RedisAddress& address, std::chrono::milliseconds limit);
  ~Redis();
  Redis(const Redis&) = delete;
  Redis& operator=(const Redis&) = delete;

  /// Sends all commands, then reads a reply for each; a reply may be an error. Fails with file, after which the
  /// connection is of no use: it is broken, or the server has not answered in time.
  Result<std::vector<RedisReply>> ask(const std::vector<RedisCommand>& commands);
  /// One command. Fails also where the reply is an error.
  Result<RedisReply> ask(const RedisCommand& command);
  /// The last ask() failed because the time was up.
  bool late() const { return late_; }

 private:
  struct State;
  explicit Redis(std::unique_ptr<State> state);
  Error broken(std::string_view what);
  Result<RedisReply> read(std::chrono::steady_clock::time_point until);

  std::unique_ptr<State> state_;
  bool late_ = false;
};

}  // namespace parlance::serve
