// Writes records by threads of its own. Begin reading at Capture::write.
#include "serve/capture/capture.h"

#include <latch>

#include "serve/http/in_pool.h"

namespace parlance::serve {

namespace {
constexpr std::size_t kWriters = 4;  // they wait for the disk, not for a core
}

Capture::Capture(std::unique_ptr<CaptureFiles> files, bool optional, CaptureSync turns)
    : files_(std::move(files)), optional_(optional), turns_(turns), pool_(threads_to_be_had(kWriters)) {}

Capture::~Capture() { pool_.join(); }

std::string Capture::append(const CaptureEntry& entry) {
  const Result<void> done = files_->append(entry);
  fails_ = !done;
  if (done) return {};
  ++failures_;
  return done.error().message();
}

/// Each thread of the pool comes to the latch when it has nothing else left to do.
void Capture::wait() {
  const auto all = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(kWriters));
  for (std::size_t number = 0; number < kWriters; ++number) asio::post(pool_, [all] { all->arrive_and_wait(); });
  all->wait();
}

Task<std::string> Capture::write(CaptureEntry entry) {
  entry.sync = turns_ == CaptureSync::at_once;
  if (!entry.sync) co_return append(entry);  // that takes no time
  const auto work = [this, &entry] { return append(entry); };
  co_return co_await in_pool(pool_, work);
}

void Capture::write_later(CaptureEntry entry) {
  asio::post(pool_, [this, entry = std::move(entry)] { append(entry); });
}

Task<std::string> Capture::check() {
  if (!fails_) co_return std::string();
  const auto work = [this] {
    const Result<void> done = files_->probe();
    if (done) fails_ = false;
    return done ? std::string() : done.error().message();
  };
  co_return co_await in_pool(pool_, work);
}

}  // namespace parlance::serve
