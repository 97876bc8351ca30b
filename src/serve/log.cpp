// Writes lines of the log.
#include "serve/log.h"

#include "serve/capture/utc.h"

namespace parlance::serve {

void Log::say(LogLevel level, std::string_view event, const std::function<void(JsonWriter&)>& add) const {
  if (!takes(level)) return;
  constexpr std::string_view kNames[] = {"error", "warning", "info", "debug"};
  JsonWriter line('{');
  line.text("time", utc_now());
  line.text("level", kNames[static_cast<std::size_t>(level)]).text("event", event);
  if (add) add(line);
  write_(line.take() + "\n");
}

}  // namespace parlance::serve
