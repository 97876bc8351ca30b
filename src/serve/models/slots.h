// Slots: how many replies an engine samples at a time. Other requests wait, in the order in which they came.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "serve/http/task.h"
#include "serve/models/limits.h"

namespace parlance::serve {

/// Threads: any.
class Slots {
  struct Waiter;

 public:
  explicit Slots(SlotLimits limits) : limits_(limits) {}

  /// A slot that is taken, or a place in the queue. Destroyed, it is given to who waits longest.
  class Slot {
   public:
    explicit Slot(Slots& of) : of_(of) {}
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    ~Slot() { of_.leave(waiter_.get()); }

    /// Waits until it is taken. Throws EngineFailure of kind busy: too many wait, or it took too long. `belongs`: to a
    /// request that has a slot or a place already, so that it may wait however many do.
    Task<> take(bool belongs);

   private:
    friend class Slots;
    Slots& of_;
    std::shared_ptr<Waiter> waiter_;
  };

  struct Use {
    std::size_t running = 0;
    std::size_t waiting = 0;
  };
  Use use() const;

 private:
  struct Waiter {
    explicit Waiter(asio::any_io_executor on) : executor(std::move(on)), timer(executor) {}
    asio::any_io_executor executor;
    asio::steady_timer timer;  ///< is cancelled once it has a slot; used on `executor` alone
    bool running = false;
    bool belongs = false;  ///< to a request that counts already
  };
  void enter(const std::shared_ptr<Waiter>& waiter);
  void leave(Waiter* waiter);
  bool runs(const Waiter& waiter) const;
  void push(const std::shared_ptr<Waiter>& waiter);
  void remove(std::list<std::shared_ptr<Waiter>>::iterator waiter);

  const SlotLimits limits_;
  mutable std::mutex mutex_;
  std::size_t running_ = 0;
  std::size_t places_ = 0;  ///< of those who wait, the requests
  std::list<std::shared_ptr<Waiter>> waiting_;
};

}  // namespace parlance::serve
