// Slots: how many replies an engine samples at a time. Other requests wait, in the order in which they came.
#pragma once
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

#include "serve/http/task.h"
#include "serve/http/waiter.h"
#include "serve/models/limits.h"

namespace parlance::serve {

/// Threads: any.
class Slots {
  struct Queued;

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
    std::shared_ptr<Queued> waiter_;
  };

  struct Use {
    std::size_t running = 0;
    std::size_t waiting = 0;
  };
  Use use() const;

 private:
  /// Is woken once it has a slot.
  struct Queued : Waiter {
    using Waiter::Waiter;
    bool running = false;
    bool belongs = false;  ///< to a request that counts already
  };
  void enter(const std::shared_ptr<Queued>& waiter);
  void leave(Queued* waiter);
  bool runs(const Queued& waiter) const;
  void push(const std::shared_ptr<Queued>& waiter);
  void remove(std::list<std::shared_ptr<Queued>>::iterator waiter);

  const SlotLimits limits_;
  mutable std::mutex mutex_;
  std::size_t running_ = 0;
  std::size_t places_ = 0;  ///< of those who wait, the requests
  std::list<std::shared_ptr<Queued>> waiting_;
};

}  // namespace parlance::serve
