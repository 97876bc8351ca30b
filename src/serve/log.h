// The gateway's log: a JSON object a line, without the content of any request.
#pragma once
#include <cstdint>
#include <functional>
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

}  // namespace parlance::serve
