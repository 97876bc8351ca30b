// Writes lines of the log.
#include "serve/log.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/// A terminal and a pipe are opened anew, so that a write to them never waits: whoever else has them open still does.
/// Where that is forbidden, a pipe that can be written to has room for PIPE_BUF bytes. Files never wait.
LogStream::LogStream(int descriptor) : descriptor_(descriptor) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return;
  is_socket_ = S_ISSOCK(facts.st_mode);
  if (!S_ISFIFO(facts.st_mode) && ::isatty(descriptor) == 0) return;
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const int opened = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (opened < 0) return;
  descriptor_ = opened;
  own_ = true;
}

LogStream::~LogStream() {
  if (own_) ::close(descriptor_);
}

ssize_t LogStream::put_some(std::string_view text) const {
  const std::size_t size = std::min<std::size_t>(text.size(), PIPE_BUF);
  return is_socket_ ? ::send(descriptor_, text.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL)
                    : ::write(descriptor_, text.data(), size);
}

/// Milliseconds to wait for who is only slow, a tenth of the time at most.
int LogStream::patience() {
  constexpr auto kOnce = std::chrono::milliseconds(200);
  const auto now = std::chrono::steady_clock::now();
  if (lost_ != 0 || now < waits_again_) return 0;
  waits_again_ = now + kOnce;
  return 20;
}

/// True: all of it was written, or nobody is there any more.
bool LogStream::put(std::string_view text) {
  while (!text.empty()) {
    pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    int found = ::poll(&ready, 1, 0);
    if (found == 0) found = ::poll(&ready, 1, patience());
    if (found == 0) return false;
    const ssize_t written = found < 0 ? -1 : put_some(text);
    if (written < 0 && errno == EAGAIN) return false;
    if (written < 0 && errno != EINTR) return true;
    if (written <= 0) continue;
    text.remove_prefix(static_cast<std::size_t>(written));
    torn_ = !text.empty();
  }
  return true;
}

void LogStream::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  std::string text = torn_ ? "\n" : "";
  if (lost_ != 0) {
    JsonWriter said('{');
    said.text("time", utc_now()).text("level", "warning").text("event", "log_lines_lost");
    text += said.number("lines", static_cast<std::int64_t>(lost_)).take() + "\n";
  }
  text += line;
  if (put(text))
    lost_ = 0;
  else
    ++lost_;
}

}  // namespace parlance::serve
