// Finds out whether threads can be started.
#include "serve/http/in_pool.h"

#include <latch>
#include <thread>
#include <vector>

namespace parlance::serve {

std::size_t threads_to_be_had(std::size_t count) {
  std::latch end(1);
  std::vector<std::jthread> threads;
  threads.reserve(count);
  try {
    for (std::size_t number = 0; number < count; ++number) threads.emplace_back([&end] { end.wait(); });
  } catch (...) {
    end.count_down();
    throw;
  }
  end.count_down();
  return count;
}

}  // namespace parlance::serve
