// Looks at an engine once for all who ask. Begin reading at Readiness::fault.
#include "serve/models/readiness.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>
#include <vector>

#include "serve/http/waiter.h"
#include "serve/http/within.h"
#include "serve/models/engine.h"

namespace parlance::serve {

namespace {

constexpr auto kLongestLook = std::chrono::seconds(2);
constexpr auto kLasts = std::chrono::seconds(2);

Task<std::string> fault_of_engine(const ServedModel& model) {
  const auto ask = [&model]() -> Task<> {
    co_await model.backend->check();
    co_await check_engine(model);
  };
  try {
    if (co_await within(kLongestLook, ask)) co_return std::string();
    // Some do one thing at a time, and answer behind the reply that they give: one that gives it is there.
    if (model.backend->has_sampled(kLongestLook)) co_return std::string();
    co_return "the engine at " + model.backend->address().url() + " has not answered in 2 s";
  } catch (const std::exception& failure) {
    model.text_check->forget();
    co_return failure.what();
  }
}

}  // namespace

/// It goes on without whoever began it: others may wait for it.
struct Readiness::Look {
  bool is_old() {
    const std::lock_guard lock(mutex);
    return is_over && std::chrono::steady_clock::now() - ended > kLasts;
  }

  void end(std::string why) {
    const std::lock_guard lock(mutex);
    fault = std::move(why);
    ended = std::chrono::steady_clock::now();
    is_over = true;
    for (const std::shared_ptr<Waiter>& one : waiting) Waiter::wake(one);
  }

  /// False: it is over.
  bool enter(const std::shared_ptr<Waiter>& one) {
    const std::lock_guard lock(mutex);
    if (!is_over) waiting.push_back(one);
    return !is_over;
  }
  void leave(const std::shared_ptr<Waiter>& one) {
    const std::lock_guard lock(mutex);
    std::erase(waiting, one);
  }

  Task<std::string> wait() {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const Place place(*this, std::make_shared<Waiter>(executor));
    boost::system::error_code woken;
    if (place.is_early) woken = co_await place.one->wait();
    const std::lock_guard lock(mutex);
    if (!is_over) throw boost::system::system_error(woken);  // the client is gone
    co_return fault;
  }

  /// Among those who wait. No timer stays there longer than its loop.
  struct Place {
    Place(Look& look, std::shared_ptr<Waiter> who) : of(look), one(std::move(who)), is_early(of.enter(one)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { of.leave(one); }
    Look& of;
    const std::shared_ptr<Waiter> one;
    const bool is_early;  ///< the look is not over
  };

  std::mutex mutex;  // of what follows
  bool is_over = false;
  std::string fault;
  std::chrono::steady_clock::time_point ended{};
  std::vector<std::shared_ptr<Waiter>> waiting;
};

Task<> Readiness::look(std::shared_ptr<const ServedModel> model, std::shared_ptr<Look> into) {
  std::string why = co_await fault_of_engine(*model);
  into->end(std::move(why));
}

Task<std::string> Readiness::fault(std::shared_ptr<const ServedModel> model) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  std::shared_ptr<Look> current;
  bool begins = false;
  {
    const std::lock_guard lock(mutex_);
    begins = last_ == nullptr || last_->is_old();
    if (begins) last_ = std::make_shared<Look>();
    current = last_;
  }
  if (begins) asio::co_spawn(executor, look(std::move(model), current), asio::detached);
  co_return co_await current->wait();
}

}  // namespace parlance::serve
