// Tests of replies of every family of formats: what they mean, from the files of tests/replies, and the laws.
//
// Begin reading at TEST(ReplyFamilies, MeanWhatTheirFilesSay).
#include <gtest/gtest.h>

#include <random>

#include "parlance/reply.h"
#include "reply_cases.h"
#include "reply_material.h"

namespace parlance {
namespace {

using testing::Events;
using testing::ReplyCase;
using testing::ReplyCases;

const std::vector<ReplyCases>& families() {
  static const std::vector<ReplyCases> all = testing::load_reply_cases(PARLANCE_TESTS "/replies");
  return all;
}

std::string message_of(const ReplyFormat& format, const ReplyCase& one) {
  ReplyMessage message;
  ReplyParser parser(format, one.options);
  const ReplySink sink = [&](const ReplyEvent& event) { message.add(event); };
  parser.feed(one.reply, sink);
  parser.finish(sink);
  return testing::outline_of(message);
}

TEST(ReplyFamilies, AreAllThere) { EXPECT_GE(families().size(), 30u); }

TEST(ReplyFamilies, MeanWhatTheirFilesSay) {
  for (const ReplyCases& family : families()) {
    for (const ReplyCase& one : family.cases) EXPECT_EQ(message_of(family.format, one), one.message) << family.name << ": " << one.reply;
  }
}

TEST(ReplyFamilies, AreTheSameAfterJson) {
  for (const ReplyCases& family : families()) {
    const Result<ReplyFormat> again = ReplyFormat::from_json(family.format.to_json());
    ASSERT_TRUE(again) << family.name << again.error().display();
    EXPECT_EQ(*again, family.format) << family.name;
    EXPECT_EQ(again->to_json(), family.format.to_json());
  }
}

TEST(ReplyFamilies, EveryTwoWayCutAndEverySize) {
  for (const ReplyCases& family : families()) {
    for (const ReplyCase& one : family.cases) {
      const Events whole = testing::read_whole(family.format, one.reply, one.options);
      for (std::size_t cut = 0; cut <= one.reply.size(); ++cut) {
        ASSERT_EQ(testing::read_cut(family.format, one.reply, {cut}, one.options), whole) << family.name << ": " << one.reply << " cut at " << cut;
      }
      for (std::size_t size = 1; size <= 64; ++size) {
        ASSERT_EQ(testing::read_sized(family.format, one.reply, size, one.options), whole) << family.name << ": " << one.reply << " by " << size;
      }
    }
  }
}

TEST(ReplyFamilies, KeepTheLawsWhereRepliesAreCutOff) {
  std::mt19937_64 random(1);
  for (const ReplyCases& family : families()) {
    for (const ReplyCase& one : family.cases) {
      for (std::size_t size = 0; size < one.reply.size(); ++size) {
        ASSERT_EQ(testing::broken_law(family.format, one.reply.substr(0, size), random, one.options), "") << family.name << ": " << one.reply.substr(0, size);
      }
    }
  }
}

TEST(ReplyFamilies, KeepTheLawsForMutatedReplies) {
  std::mt19937_64 random(20261122);
  for (int round = 0; round < 40000; ++round) {
    const ReplyCases& family = families()[random() % families().size()];
    const ReplyCase& one = family.cases[random() % family.cases.size()];
    ReplyOptions options = one.options;
    if (round % 4 == 1) options.limits = {.depth = 3, .name = 10, .pending = 50};
    if (round % 4 == 2) options.tools = {};
    const std::string reply = round % 8 == 0 ? testing::random_reply(family.format, random) : testing::mutated(one.reply, random);
    ASSERT_EQ(testing::broken_law(family.format, reply, random, options), "") << family.name << ": " << reply;
  }
}

/// A reply that goes on from a prompt's last bytes is the rest of what it would be from further back.
TEST(ReplyFamilies, GoOnWhereThePromptEnds) {
  for (const ReplyCases& family : families()) {
    for (const ReplyCase& one : family.cases) {
      const std::string prompt = one.options.prompt.value_or(family.format.prompt);
      for (std::size_t moved = 0; moved <= one.reply.size(); ++moved) {
        ReplyOptions options = one.options;
        options.prompt = prompt + one.reply.substr(0, moved);
        std::string sources;
        const Events events = testing::read_whole(family.format, std::string_view(one.reply).substr(moved), options);
        for (const testing::Event& event : events) sources += event.source;
        ASSERT_EQ(sources, one.reply.substr(moved)) << family.name;
      }
    }
  }
}

}  // namespace
}  // namespace parlance
