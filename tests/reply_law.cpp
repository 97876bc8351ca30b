// Many mutated and random replies in every format of tests/replies: reading never fails to end, loses no byte, and says
// the same in pieces as at once.
//
//     reply_law FOLDER [ROUNDS] [SEED]
//
// Begin reading at main; what a law is stands in reply_material.cpp.
#include <cstdio>
#include <cstdlib>

#include "reply_cases.h"
#include "reply_material.h"

namespace {

using namespace parlance;

/// The reply at once and in pieces of some size: the same events, whose sources are the reply.
std::string fault_of(const ReplyFormat& format, const std::string& reply, const ReplyOptions& options,
                     std::size_t size) {
  const testing::Events whole = testing::read_whole(format, reply, options);
  std::string sources;
  for (const testing::Event& event : whole) sources += event.source;
  if (sources != reply) return "the events are not the reply";
  return testing::read_sized(format, reply, size, options) == whole ? "" : "in pieces it reads otherwise";
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const auto families = testing::load_reply_cases(arguments[1]);
  const long rounds = count > 2 ? std::atol(arguments[2]) : 20000;
  std::mt19937_64 random(count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 1);
  for (long round = 0; round < rounds; ++round) {
    const testing::ReplyCases& family = families[random() % families.size()];
    const testing::ReplyCase& one = family.cases[random() % family.cases.size()];
    ReplyOptions options = one.options;
    if (random() % 4 == 0) options.limits = {.depth = 3, .name = 10, .pending = 50};
    if (random() % 4 == 0) options.tools = {};
    const bool made = random() % 8 == 0;
    std::string reply = made ? testing::random_reply(family.format, random) : testing::mutated(one.reply, random);
    if (random() % 8 == 0) reply.resize(random() % (reply.size() + 1));
    const bool thorough = random() % 64 == 0;
    const std::string fault = thorough ? testing::broken_law(family.format, reply, random, options)
                                       : fault_of(family.format, reply, options, 1 + random() % 16);
    if (fault.empty()) continue;
    std::printf("%s, round %ld: %s\n%s\n", family.name.c_str(), round, fault.c_str(), reply.c_str());
    return 1;
  }
  std::printf("%ld replies in %zu formats keep the laws\n", rounds, families.size());
}
