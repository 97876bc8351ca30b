// Writes records by threads of its own. Begin reading at Capture::in_pool.
#include "serve/capture/capture.h"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace parlance::serve {

namespace {
constexpr std::size_t kWriters = 4;  // they wait for the disk, not for a core
}

Capture::Capture(std::unique_ptr<CaptureFiles> files, bool optional)
    : files_(std::move(files)), optional_(optional), pool_(kWriters) {}

Capture::~Capture() { pool_.join(); }

std::string Capture::append(const CaptureEntry& entry) {
  const Result<void> done = files_->append(entry);
  fails_ = !done;
  if (done) return {};
  ++failures_;
  return done.error().message();
}

/// Does `work` in the pool, and goes on where the coroutine was.
template <typename Work>
Task<std::string> Capture::in_pool(Work work) {
  auto start = [this, &work](auto&& handler) {
    const std::unique_lock lock(mutex_);
    ++waiting_;
    auto back = asio::prefer(asio::get_associated_executor(handler), asio::execution::outstanding_work.tracked);
    asio::post(pool_, [this, work = std::move(work), handler = std::move(handler), back]() mutable {
      std::string result = work();
      asio::post(back, [handler = std::move(handler), result = std::move(result)]() mutable {
        std::move(handler)(std::move(result));
      });
      const std::unique_lock lock(mutex_);
      --waiting_;
      returned_.notify_all();
    });
  };
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>, void(std::string)>(start, asio::use_awaitable);
}

void Capture::wait() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return waiting_ == 0; });
}

Task<std::string> Capture::write(CaptureEntry entry) {
  auto work = [this, entry = std::move(entry)] { return append(entry); };
  return in_pool(std::move(work));
}

void Capture::write_later(CaptureEntry entry) {
  asio::post(pool_, [this, entry = std::move(entry)] { append(entry); });
}

Task<std::string> Capture::check() {
  if (!fails_) co_return std::string();
  auto work = [this] {
    const Result<void> done = files_->probe();
    if (done) fails_ = false;
    return done ? std::string() : done.error().message();
  };
  co_return co_await in_pool(std::move(work));
}

}  // namespace parlance::serve
