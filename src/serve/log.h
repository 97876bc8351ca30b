// The gateway's log: a JSON object a line, without the content of any request.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "parlance/json_writer.h"

namespace parlance::serve {

enum class LogLevel : std::uint8_t { error, warning, info, debug };

/// Threads: any; each line is written as a whole.
class Log {
 public:
  using Write = std::function<void(std::string_view line)>;
  Log(LogLevel most, Write write) : most_(most), write_(std::move(write)) {}
  bool takes(LogLevel level) const { return level <= most_; }
  /// A line of this event, with the members that `add` gives.
  void say(LogLevel level, std::string_view event, const std::function<void(JsonWriter&)>& add = {}) const;

 private:
  LogLevel most_;
  Write write_;
};

/// Writes lines to a descriptor, for Log::Write. Who reads them there may stop: the gateway does not wait for it, but
/// leaves lines out, and says how many once it reads again. Threads: any.
class LogStream {
 public:
  explicit LogStream(int descriptor);
  LogStream(const LogStream&) = delete;
  LogStream& operator=(const LogStream&) = delete;
  ~LogStream();
  void write(std::string_view line);

 private:
  bool put(std::string_view text);
  ssize_t put_some(std::string_view text) const;
  int patience();

  int descriptor_;
  bool own_ = false;  ///< the descriptor was opened here
  bool is_socket_ = false;
  std::mutex mutex_;      // of what follows
  std::size_t lost_ = 0;  ///< lines
  bool torn_ = false;     ///< the last one has no end
  std::chrono::steady_clock::time_point waits_again_{};
};

}  // namespace parlance::serve
