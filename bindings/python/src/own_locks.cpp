#include "own_locks.h"

#include <pthread.h>

#include <array>
#include <cstddef>

namespace parlance::python {

namespace {

constinit std::array<std::mutex, 5> own_locks{};

void lock_all() {
  for (std::mutex& mutex : own_locks) mutex.lock();
}

void unlock_all() {
  for (std::mutex& mutex : own_locks) mutex.unlock();
}

unsigned number_of_process = 1;

void begin_child() {
  ++number_of_process;
  unlock_all();
}

[[maybe_unused]] const int at_fork = pthread_atfork(lock_all, unlock_all, begin_child);

}  // namespace

unsigned process_number() { return number_of_process; }

std::mutex& own_lock(OwnLock which) { return own_locks[static_cast<std::size_t>(which)]; }

}  // namespace parlance::python
