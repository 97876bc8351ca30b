// Reads parts of captures.
#include "serve/recorded_engine.h"

#include <algorithm>
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

std::vector<std::string> call_ids_of(Value record) {
  std::vector<std::string> ids;
  for (const Value& id : record["call_ids"].items()) ids.emplace_back(id.text());
  return ids;
}

CivilTime moment_of(Value list) {
  CivilTime made;
  int* const parts[] = {&made.year, &made.month, &made.day, &made.hour, &made.minute, &made.second, &made.microsecond};
  const std::span<const Value> items = list.items();
  for (std::size_t i = 0; i < std::min(items.size(), std::size(parts)); ++i)
    *parts[i] = static_cast<int>(number_in(items[i]));
  return made;
}

std::vector<TokenId> listed_ids(Value list) {
  std::vector<TokenId> ids;
  for (const Value& id : list.items()) ids.push_back(static_cast<TokenId>(number_in(id)));
  return ids;
}

}  // namespace parlance::serve
