// Writes lines of the log.
#include "serve/log.h"

#include <chrono>
#include <ctime>

namespace parlance::serve {

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto all = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  const std::time_t seconds = all / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.", &parts);
  const std::string milliseconds = std::to_string(1000 + all % 1000);
  return std::string(text, size) + milliseconds.substr(1) + "Z";
}

void Log::say(LogLevel level, std::string_view event, const std::function<void(JsonWriter&)>& add) const {
  if (level > most_) return;
  constexpr std::string_view kNames[] = {"error", "warning", "info", "debug"};
  JsonWriter line('{');
  line.text("time", utc_now());
  line.text("level", kNames[static_cast<std::size_t>(level)]).text("event", event);
  if (add) add(line);
  write_(line.take() + "\n");
}

}  // namespace parlance::serve
