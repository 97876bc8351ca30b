// Runs threads.
#include "serve/http/loops.h"

#include <thread>

namespace parlance::serve {

Loops::Loops(unsigned count) {
  for (unsigned number = 0; number < count; ++number) {
    contexts_.push_back(std::make_unique<asio::io_context>(1));  // a hint: one thread runs it
    guards_.emplace_back(contexts_.back()->get_executor());
  }
}

Loops::~Loops() = default;

void Loops::run() {
  std::vector<std::jthread> others;
  try {
    for (std::size_t number = 1; number < contexts_.size(); ++number)
      others.emplace_back([&context = *contexts_[number]] { context.run(); });
  } catch (...) {
    stop();
    throw;
  }
  first().run();
}

void Loops::stop() {
  for (const auto& context : contexts_) context->stop();
}

}  // namespace parlance::serve
