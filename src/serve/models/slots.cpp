// Gives slots to those who wait. Begin reading at Slots::Slot::take.
#include "serve/models/slots.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "serve/backends/backend.h"

namespace parlance::serve {

Task<> Slots::Slot::take(bool belongs) {
  waiter_ = std::make_shared<Queued>(co_await asio::this_coro::executor);
  waiter_->belongs = belongs;
  of_.enter(waiter_);
  if (of_.runs(*waiter_)) co_return;
  const boost::system::error_code woken =
      co_await waiter_->wait(std::chrono::steady_clock::now() + of_.limits_.longest_wait);
  if (of_.runs(*waiter_)) co_return;
  if (woken) throw boost::system::system_error(woken);  // the client is gone
  throw EngineFailure(EngineFailure::Kind::busy, "the engine was busy with other requests for too long");
}

namespace {

std::string in_words(std::size_t number, const char* one, const char* several) {
  return std::to_string(number) + " " + (number == 1 ? one : several);
}

}  // namespace

void Slots::push(const std::shared_ptr<Queued>& waiter) {
  waiting_.push_back(waiter);
  if (!waiter->belongs) ++places_;
}

void Slots::remove(std::list<std::shared_ptr<Queued>>::iterator waiter) {
  if (!(*waiter)->belongs) --places_;
  waiting_.erase(waiter);
}

void Slots::enter(const std::shared_ptr<Queued>& waiter) {
  const std::lock_guard lock(mutex_);
  if (limits_.running == 0 || running_ < limits_.running) {
    waiter->running = true;
    ++running_;
  } else if (waiter->belongs || places_ < limits_.waiting) {
    push(waiter);
  } else {
    throw EngineFailure(EngineFailure::Kind::busy, "the engine samples " + in_words(running_, "reply", "replies") +
                                                       ", and " + in_words(places_, "request waits", "requests wait") +
                                                       ", which is as many as this server takes");
  }
}

void Slots::leave(Queued* waiter) {
  if (waiter == nullptr) return;
  const std::lock_guard lock(mutex_);
  if (!waiter->running) {
    const auto is_this = [waiter](const std::shared_ptr<Queued>& one) { return one.get() == waiter; };
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), is_this);
    if (found != waiting_.end()) remove(found);
    return;
  }
  --running_;
  if (waiting_.empty() || running_ >= limits_.running) return;
  const std::shared_ptr<Queued> next = waiting_.front();
  remove(waiting_.begin());
  next->running = true;
  ++running_;
  Waiter::wake(next);
}

bool Slots::runs(const Queued& waiter) const {
  const std::lock_guard lock(mutex_);
  return waiter.running;
}

Slots::Use Slots::use() const {
  const std::lock_guard lock(mutex_);
  return {running_, waiting_.size()};
}

}  // namespace parlance::serve
