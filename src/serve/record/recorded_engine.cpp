// Runs turns whose engine says what was sampled before.
#include "serve/record/recorded_engine.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace parlance::serve {

void run_recorded(Turn& turn) {
  asio::io_context context;
  const Turn::Take take = [](const ReplyEvent&) {};
  const Turn::Flush flush = []() -> Task<> { co_return; };
  asio::co_spawn(context, turn.run(take, flush), asio::detached);
  context.run();
}

}  // namespace parlance::serve
