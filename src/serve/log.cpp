// Writes lines of the log.
#include "serve/log.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

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

/// A pipe that can be written to has room for PIPE_BUF bytes. True: all of it was written, or nobody is there any more.
bool LogStream::put(std::string_view text, int milliseconds) {
  while (!text.empty()) {
    pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    const int found = ::poll(&ready, 1, milliseconds);
    if (found == 0) return false;
    const ssize_t written =
        found < 0 ? -1 : ::write(descriptor_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno == EAGAIN) return false;
    if (written < 0 && errno != EINTR) return true;
    if (written <= 0) continue;
    text.remove_prefix(static_cast<std::size_t>(written));
    torn_ = !text.empty();
  }
  return true;
}

void LogStream::write(std::string_view line) {
  constexpr int kPatience = 20;  // milliseconds, for who is only slow
  const std::lock_guard lock(mutex_);
  std::string text = torn_ ? "\n" : "";
  if (lost_ != 0) {
    JsonWriter said('{');
    said.text("time", utc_now()).text("level", "warning").text("event", "log_lines_lost");
    text += said.number("lines", static_cast<std::int64_t>(lost_)).take() + "\n";
  }
  text += line;
  if (put(text, lost_ != 0 ? 0 : kPatience))
    lost_ = 0;
  else
    ++lost_;
}

}  // namespace parlance::serve
