// Lets several coroutines write one stream. Begin reading at EventStream::run.
#include "serve/http/event_stream.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "serve/http/together.h"

namespace parlance::serve {

/// All who wait are woken together, and the first of them takes over.
Task<> EventStream::take_over() {
  boost::system::error_code woken;
  while (taken_) co_await free_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  taken_ = true;
}

void EventStream::give_back() {
  taken_ = false;
  free_.cancel();
}

Task<> EventStream::send() {
  if (out_.empty()) co_return;
  if (!exchange_.begun()) exchange_.begin(200, type_);
  sent_.swap(out_);
  co_await exchange_.write(sent_);
  sent_.clear();
  last_ = Clock::now();
}

Task<> EventStream::flush() {
  if (out_.empty()) co_return;
  co_await take_over();
  try {
    co_await send();
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

/// Who writes is waited for, and then nobody else can.
Task<> EventStream::hold() {
  if (held_) co_return;
  co_await take_over();
  held_ = true;
}

/// A part that fails ends the others, which may be in the middle of an event: so they get to its end first.
Task<> EventStream::part(const std::function<Task<>(std::size_t)>& make, std::size_t number) {
  std::exception_ptr failed;
  try {
    co_await make(number);
  } catch (...) {
    failed = std::current_exception();
  }
  if (!failed) co_return;
  co_await hold();
  std::rethrow_exception(failed);
}

Task<> EventStream::all(std::size_t count, const std::function<Task<>(std::size_t)>& make) {
  const auto make_part = [this, &make](std::size_t number) { return part(make, number); };
  try {
    co_await together(count, make_part);
    co_await hold();
  } catch (...) {
    failed_ = std::current_exception();
  }
}

/// No coroutine of its own: most streams end before it has anything to do.
void EventStream::wait_for_silence() {
  silence_.expires_at(last_ + keep_alive_.after);
  silence_.async_wait([this, lives = lives_](const boost::system::error_code& ended) {
    if (!ended && *lives) stay_alive();
  });
}

/// Events that wait to be sent go before what keeps the connection alive.
void EventStream::send_now() {
  if (!exchange_.begun()) exchange_.begin(200, type_);
  const std::size_t events = out_.size();
  out_ += keep_alive_.text;
  const bool taken = exchange_.write_now(out_);
  out_.resize(taken ? 0 : events);
}

void EventStream::stay_alive() {
  if (held_) return;
  if (taken_) last_ = Clock::now();  // the client takes slowly what it is sent
  if (Clock::now() >= last_ + keep_alive_.after) {
    send_now();
    last_ = Clock::now();
  }
  wait_for_silence();
}

Task<> EventStream::run(std::size_t count, const std::function<Task<>(std::size_t)>& make) {
  if (!keep_alive_.text.empty() && keep_alive_.after.count() != 0) wait_for_silence();
  co_await all(count, make);
  silence_.cancel();
  if (failed_) std::rethrow_exception(failed_);
}

Task<> EventStream::end(std::string_view last) {
  out_ += last;
  if (!exchange_.begun()) exchange_.begin(200, type_);
  co_await exchange_.end(out_);
}

}  // namespace parlance::serve
