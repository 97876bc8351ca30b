// Children that are forked while other threads hold a lock.
#include "base/fork_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "parlance/request.h"
#include "parlance/source.h"

namespace parlance {
namespace {

/// What a child says of `check`: its answer, or false where it takes too long.
bool child_says(const std::function<bool()>& check) {
  constexpr unsigned kSeconds = 20;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    _exit(check() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A thread that does something until this ends.
class Meanwhile {
 public:
  explicit Meanwhile(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          while (!ends_) work();
        }) {}
  ~Meanwhile() {
    ends_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

TEST(ForkLock, AChildFindsALongMutexFreeAndIsToldOnceThatItWasHeld) {
  LongMutex mutex;
  std::atomic<bool> is_held = false, ends = false;
  std::thread holder([&] {
    const std::lock_guard lock(mutex);
    is_held = true;
    while (!ends) std::this_thread::yield();
  });
  std::thread waiter([&] { const std::lock_guard lock(mutex); });
  while (!is_held) std::this_thread::yield();
  EXPECT_TRUE(child_says([&] {
    mutex.lock();
    const bool was_torn = mutex.take_torn(), is_still = mutex.take_torn();
    mutex.unlock();
    const std::lock_guard again(mutex);
    return was_torn && !is_still && !mutex.take_torn();
  }));
  ends = true;
  holder.join();
  waiter.join();
  const std::lock_guard lock(mutex);
  EXPECT_FALSE(mutex.take_torn());
  EXPECT_TRUE(child_says([] {
    LongMutex own;
    const std::lock_guard other(own);
    return !own.take_torn();
  }));
}

TEST(ForkLock, AChildMakesAgainWhatAnotherThreadWasMaking) {
  MadeOnce<int> made;
  std::atomic<bool> begun = false, ends = false;
  std::thread maker([&] {
    made.get([&] {
      begun = true;
      while (!ends) std::this_thread::yield();
      return std::make_unique<int>(1);
    });
  });
  while (!begun) std::this_thread::yield();
  EXPECT_TRUE(child_says([&] { return made.get([] { return std::make_unique<int>(2); }) == 2; }));
  ends = true;
  maker.join();
  EXPECT_EQ(made.get([] { return std::make_unique<int>(3); }), 1);
  EXPECT_TRUE(child_says([&] { return made.get([] { return std::make_unique<int>(4); }) == 1; }));
}

TEST(ForkLock, AForkHappensWhileNobodyHoldsABriefMutex) {
  std::vector<OuterBriefMutex> outer(200);
  std::vector<BriefMutex> inner(200);
  int first = 0, second = 0;  // equal whenever nobody holds the first of each
  const Meanwhile changing([&] {
    const std::lock_guard around(outer[0]);
    const std::lock_guard lock(inner[0]);
    ++first;
    ++second;
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(child_says([&] {
      for (std::size_t at = 0; at < inner.size(); ++at) {
        const std::lock_guard around(outer[at]);
        const std::lock_guard lock(inner[at]);
      }
      return first == second;
    }));
  }
}

TEST(ForkLock, AChildMakesTheExperimentsThatAnotherThreadWasAt) {
  for (int i = 0; i < 10; ++i) {
    const Result<ModelSource> model = open_format("terminal-agent");
    ASSERT_TRUE(model);
    const RequestReader reader(*model);
    constexpr std::string_view kBody =
        R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls":
        [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x"}]}]})";
    const auto ask = [&] {
      Result<ChatRequest> request = reader.read(kBody);
      return request && reader.reply_to(*request);
    };
    std::thread other(ask);
    std::this_thread::sleep_for(std::chrono::microseconds(300 * i));
    EXPECT_TRUE(child_says(ask)) << i;
    other.join();
    EXPECT_TRUE(ask());
  }
}

}  // namespace
}  // namespace parlance
