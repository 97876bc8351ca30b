// Writes records by threads of its own. Begin reading at Capture::write.
#include "serve/capture/capture.h"

#include <utility>

#include "serve/http/in_pool.h"

namespace parlance::serve {

namespace {
constexpr std::size_t kWriters = 4;  // they wait for the disk, not for a core
}

Capture::Capture(std::unique_ptr<CaptureFiles> files, bool optional, CaptureSync turns)
    : files_(std::move(files)), optional_(optional), turns_(turns), threads_(kWriters) {}

Capture::~Capture() = default;

std::string Capture::append(const CaptureEntry& entry) {
  const Result<void> done = files_->append(entry);
  fails_ = !done;
  if (done) return {};
  ++failures_;
  return done.error().message();
}

void Capture::wait() { threads_.wait(); }

/// Behind what the file gets before.
template <typename Work>
Task<std::string> Capture::in_order(const std::string& file, Work& work) {
  const auto give = [this, &file](auto job) {
    threads_.add(file, [held = std::make_shared<decltype(job)>(std::move(job))] { (*held)(); });
  };
  co_return co_await elsewhere(give, work);
}

Task<std::string> Capture::write(CaptureEntry entry) {
  entry.sync = turns_ == CaptureSync::at_once;
  if (!entry.sync) co_return append(entry);  // that takes no time
  const auto work = [this, &entry] { return append(entry); };
  co_return co_await in_order(entry.file, work);
}

void Capture::write_later(CaptureEntry entry) {
  entry.sync = turns_ == CaptureSync::at_once;
  if (!entry.sync) {  // what is written next must stand behind it
    append(entry);
    return;
  }
  const std::string file = entry.file;
  threads_.add(file, [this, entry = std::move(entry)] { append(entry); });
}

Task<std::string> Capture::check() {
  if (!fails_) co_return std::string();
  const auto work = [this] {
    const Result<void> done = files_->probe();
    if (done) fails_ = false;
    return done ? std::string() : done.error().message();
  };
  const std::string folder;  // whose name no file has
  co_return co_await in_order(folder, work);
}

}  // namespace parlance::serve
