// std::thread throws where it gets no thread; this does not.
#include "base/thread.h"

#include <memory>
#include <utility>

namespace parlance {

namespace {

void* call(void* given) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(given));
  (*work)();
  return nullptr;
}

}  // namespace

std::optional<Thread> Thread::start(std::function<void()> work) {
  auto given = std::make_unique<std::function<void()>>(std::move(work));
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, call, given.get()) != 0) return std::nullopt;
  static_cast<void>(given.release());  // the thread's
  return Thread(thread);
}

}  // namespace parlance
