// Begin reading at LineProcess::read.
#include "agent/mcp/line_process.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "agent/sandbox/process_tree.h"

namespace parlance::agent {

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMostLine = 8 << 20;    // bytes
constexpr std::size_t kKeptErrors = 4 << 10;  // bytes of standard error
constexpr double kToEnd = 1.5;                // seconds to end by itself, and behind SIGTERM
constexpr std::size_t kMostPending = 2 * kMostLine;

int milliseconds_until(Steady::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Steady::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60'000));
}

/// Writes without SIGPIPE: a program that has ended must not end us.
ssize_t write_quietly(int to, std::string_view bytes) {
  sigset_t broken, before;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  const ssize_t size = ::write(to, bytes.data(), bytes.size());
  const int error = errno;
  const timespec now{};
  if (size < 0 && error == EPIPE) sigtimedwait(&broken, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return size;
}

}  // namespace

Patience Patience::seconds(double seconds, int cancel) {
  const std::chrono::duration<double> length(seconds);
  return {Steady::now() + std::chrono::duration_cast<Steady::duration>(length), cancel};
}

Patience Patience::at_most(double most) const { return {std::min(until, seconds(most).until), cancel}; }

bool Patience::is_cancelled() const {
  pollfd watched{cancel, POLLIN, 0};
  return cancel >= 0 && poll(&watched, 1, 0) > 0;
}

bool Patience::is_over() const { return Steady::now() >= until || is_cancelled(); }

Result<std::unique_ptr<LineProcess>> LineProcess::start(const Sandbox& sandbox, const Launch& given,
                                                        std::function<void(std::string_view)> log) {
  std::unique_ptr<LineProcess> made(new LineProcess);
  made->log_ = std::move(log);
  Launch launch = given;
  for (const auto& [pipe, ours] : {std::pair{&made->input_, Pipe::Ours::writer},
                                   {&made->output_, Pipe::Ours::reader},
                                   {&made->errors_, Pipe::Ours::reader}}) {
    Result<Pipe> opened = Pipe::open(ours);
    if (!opened) return opened.error();
    *pipe = std::move(*opened);
  }
  launch.in = made->input_.reader.get();
  launch.out = made->output_.writer.get();
  launch.err = made->errors_.writer.get();
  Result<std::unique_ptr<SandboxedProcess>> process = sandbox.start(launch);
  if (!process) return process.error();
  made->process_ = std::move(*process);
  made->input_.reader.close();
  made->output_.writer.close();
  made->errors_.writer.close();
  return made;
}

void LineProcess::take_errors() {
  const std::string bytes = read_some(errors_.reader.get());
  if (bytes.empty()) return;
  if (log_) log_(bytes);
  errors_tail_ += bytes;
  if (errors_tail_.size() > kKeptErrors) errors_tail_.erase(0, errors_tail_.size() - kKeptErrors);
}

void LineProcess::take_output() {
  char part[65536];
  const ssize_t size = ::read(output_.reader.get(), part, sizeof part);
  if (size < 0) return;
  if (size == 0) {
    over_ = LineEnd::ended;
    return;
  }
  pending_.append(part, static_cast<std::size_t>(size));
  if (pending_.find('\n', searched_) == std::string::npos) searched_ = pending_.size();
  if (searched_ - begin_ > kMostLine) over_ = LineEnd::too_long;
}

/// Until something has happened.
void LineProcess::wait(const Patience& patience, bool to_write) {
  const bool is_full = to_write && pending_.size() - begin_ > kMostPending;  // it shall read before it writes more
  pollfd watched[] = {{is_full ? -1 : output_.reader.get(), POLLIN, 0},
                      {errors_.reader.get(), POLLIN, 0},
                      {to_write ? input_.writer.get() : -1, POLLOUT, 0},
                      {patience.cancel, POLLIN, 0}};
  poll(watched, 4, milliseconds_until(patience.until));
  if (watched[0].revents != 0) take_output();
  if ((watched[1].revents & POLLIN) != 0)
    take_errors();
  else if (watched[1].revents != 0)
    errors_.reader.close();
}

LineEnd LineProcess::write(std::string line, const Patience& patience) {
  line += '\n';
  std::string_view rest = line;
  while (true) {
    if (over_ != LineEnd::none || !input_.writer) return over_ == LineEnd::none ? LineEnd::ended : over_;
    const ssize_t size = write_quietly(input_.writer.get(), rest);
    if (size > 0) rest.remove_prefix(static_cast<std::size_t>(size));
    if (rest.empty()) return LineEnd::none;
    if (size < 0 && errno != EAGAIN && errno != EINTR) over_ = LineEnd::ended;
    const bool is_cancelled = patience.is_cancelled();
    if (is_cancelled || Steady::now() >= patience.until) {
      if (rest.size() < line.size()) over_ = LineEnd::ended;
      return is_cancelled ? LineEnd::cancelled : LineEnd::timed_out;
    }
    if (size < 0) wait(patience, true);
  }
}

bool LineProcess::read_now(std::string& line) {
  const std::size_t end = pending_.find('\n', searched_);
  if (end == std::string::npos) return false;
  line.assign(pending_, begin_, end - begin_);
  begin_ = searched_ = end + 1;
  if (begin_ < pending_.size() / 2) return true;
  pending_.erase(0, begin_);
  begin_ = searched_ = 0;
  return true;
}

LineEnd LineProcess::read(std::string& line, const Patience& patience) {
  while (!read_now(line)) {
    if (over_ != LineEnd::none) return over_;
    if (patience.is_cancelled()) return LineEnd::cancelled;
    if (Steady::now() >= patience.until) return LineEnd::timed_out;
    wait(patience, false);
  }
  return LineEnd::none;
}

bool LineProcess::take_written() {
  const std::size_t before = pending_.size();
  if (over_ == LineEnd::none) wait(Patience(), false);
  return pending_.size() > before;
}

/// What it still writes is thrown away, so that it can end.
void LineProcess::drain_until(double seconds) {
  const Patience patience = Patience::seconds(seconds);
  while (!process_->status() && Steady::now() < patience.until) {
    pollfd watched[] = {
        {output_.reader.get(), POLLIN, 0}, {errors_.reader.get(), POLLIN, 0}, {process_->end(), POLLIN, 0}};
    poll(watched, 3, milliseconds_until(patience.until));
    if (watched[0].revents != 0 && read_some(output_.reader.get()).empty()) output_.reader.close();
    if (watched[1].revents != 0 && (watched[1].revents & POLLIN) == 0) errors_.reader.close();
    if ((watched[1].revents & POLLIN) != 0) take_errors();
  }
}

void LineProcess::close() {
  begin_close();
  over_ = LineEnd::ended;
  drain_until(kToEnd);
  if (!process_->status()) signal_all(process_->root(), SIGTERM);
  drain_until(kToEnd);
  process_->kill();
  take_errors();
}

}  // namespace parlance::agent
