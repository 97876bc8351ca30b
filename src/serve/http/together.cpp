// Runs coroutines at the same time. Begin reading at together.
#include "serve/http/together.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <exception>

namespace parlance::serve {

namespace {

struct Group {
  const std::function<Task<>(std::size_t)>& make;
  std::exception_ptr first;  ///< what was thrown first; the others throw that they were ended
};

Task<> one(Group& group, std::size_t number) {
  try {
    co_await group.make(number);
  } catch (...) {
    if (!group.first) group.first = std::current_exception();
    throw;
  }
}

/// Asio has no operator for a list of coroutines, but one for two.
Task<> halves(Group& group, std::size_t begin, std::size_t end) {
  using namespace asio::experimental::awaitable_operators;
  if (end - begin == 1) {
    co_await one(group, begin);
    co_return;
  }
  const std::size_t middle = begin + (end - begin) / 2;
  co_await (halves(group, begin, middle) && halves(group, middle, end));
}

}  // namespace

Task<> together(std::size_t count, const std::function<Task<>(std::size_t)>& make) {
  if (count == 0) co_return;
  Group group{make, {}};
  try {
    co_await halves(group, 0, count);
  } catch (...) {
    if (!group.first) group.first = std::current_exception();
  }
  if (group.first) std::rethrow_exception(group.first);
}

}  // namespace parlance::serve
