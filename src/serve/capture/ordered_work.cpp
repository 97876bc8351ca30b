// One thread at a time does the work of a name. Begin reading at OrderedWork::add.
#include "serve/capture/ordered_work.h"

#include <utility>

namespace parlance::serve {

void OrderedWork::add(const std::string& name, std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  std::deque<std::function<void()>>& left = left_[name];
  left.push_back(std::move(work));
  if (left.size() == 1) pool_.post([this, name] { go_on(name); });
}

/// Does one piece, and goes on behind what others wait for. What is done is gone, with all that it held, before wait()
/// may know.
void OrderedWork::go_on(const std::string& name) {
  std::unique_lock lock(mutex_);
  std::deque<std::function<void()>>& left = left_.at(name);
  std::function<void()> work = std::move(left.front());
  lock.unlock();
  work();
  work = nullptr;
  lock.lock();
  left.pop_front();
  if (!left.empty()) {
    pool_.post([this, name] { go_on(name); });
    return;
  }
  left_.erase(name);
  if (left_.empty()) none_left_.notify_all();
}

void OrderedWork::wait() {
  std::unique_lock lock(mutex_);
  none_left_.wait(lock, [this] { return left_.empty(); });
}

}  // namespace parlance::serve
