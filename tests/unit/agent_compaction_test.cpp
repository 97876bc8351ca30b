// What an agent leaves out of a conversation that is too long, and how it knows that it is.
#include <gtest/gtest.h>

#include "agent_loop/compaction.h"
#include "agent_loop/prompt_size.h"

namespace parlance {
namespace {

/// A conversation of an agent with so many turns.
std::vector<Message> conversation_of(std::size_t turns, std::size_t bytes) {
  std::vector<Message> all{{.role = "user", .content = "Do it"}};
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const std::string id = "call_" + std::to_string(turn);
    all.push_back(
        {.role = "assistant",
         .tool_calls = {{.id = id, .name = "work", .arguments_json = "{\"n\": " + std::to_string(turn) + "}"}}});
    all.push_back({.role = "tool", .content = std::string(bytes, 'x'), .tool_call_id = id});
  }
  return all;
}

TEST(Compaction, LeavesOutTurnsBetweenTheBeginningAndTheEnd) {
  std::vector<Message> all = conversation_of(100, 400);
  const auto chosen = choose_compaction(all, 10000, 4);
  ASSERT_TRUE(chosen);
  EXPECT_GT(chosen->first, 10U) << "the beginning stays";
  EXPECT_LT(chosen->first + chosen->count, all.size() - 10) << "and the end";
  EXPECT_EQ(all[chosen->first].role, "assistant");
  const std::vector<Message> before = all;
  compact(all, *chosen);
  std::size_t weight = 0;
  for (const Message& message : all) weight += weight_of(message);
  EXPECT_LT(weight, 10000U * 4 / 2 + 4000);
  for (std::size_t at = 1; at < all.size(); at += 2) {
    ASSERT_EQ(all[at].role, "assistant");
    EXPECT_EQ(all[at].tool_calls[0].id, all[at + 1].tool_call_id) << "a call has its result";
  }
  for (std::size_t at = 0; at + 1 < chosen->first; ++at) EXPECT_EQ(all[at].content, before[at].content);
  EXPECT_NE(all[chosen->first - 1].content.find("turns were left out"), std::string::npos);
  EXPECT_FALSE(choose_compaction(conversation_of(1, 4000), 100, 4)) << "nothing can be left out";
}

TEST(Compaction, HasOneNoteHoweverOftenTurnsAreLeftOut) {
  for (const std::size_t context : {600U, 2000U, 8000U}) {
    std::vector<Message> all = conversation_of(1, 0);
    std::size_t turns = 0;
    for (int turn = 0; turn < 200; ++turn) {
      const std::vector<Message> one = conversation_of(1, 300);
      all.insert(all.end(), one.begin() + 1, one.end());
      std::size_t weight = 0;
      for (const Message& message : all) weight += weight_of(message);
      if (weight < context * 4 * 9 / 10) continue;
      std::vector<Message> shorter = all;
      const LeftOut earlier = take_notes(shorter);
      EXPECT_EQ(earlier.turns, turns);
      EXPECT_EQ(earlier.calls, turns) << "each has one";
      const auto chosen = choose_compaction(shorter, context, 4, earlier);
      ASSERT_TRUE(chosen) << context << " in turn " << turn;
      EXPECT_LT(chosen->note.size(), context * 4 / 8) << chosen->note;
      turns += static_cast<std::size_t>(
          std::count_if(shorter.begin() + static_cast<std::ptrdiff_t>(chosen->first),
                        shorter.begin() + static_cast<std::ptrdiff_t>(chosen->first + chosen->count),
                        [](const Message& message) { return message.role == "assistant"; }));
      compact(shorter, *chosen);
      all = std::move(shorter);
      EXPECT_EQ(std::count_if(all.begin(), all.end(),
                              [](const Message& message) {
                                return message.content.find("turns were left out") != std::string::npos;
                              }),
                1);
    }
    EXPECT_GT(turns, 20U);
  }
}

/// What the only note of a conversation says of turns that were left out; they go one after the other.
TEST(Compaction, ANoteNamesTheLatestCallsOfAllThatWereLeftOut) {
  std::vector<Message> all = conversation_of(40, 300);
  for (int round = 0; round < 6; ++round) {
    std::vector<Message> shorter = all;
    const LeftOut earlier = take_notes(shorter);
    const auto chosen = choose_compaction(shorter, 3000, 4, earlier);
    ASSERT_TRUE(chosen);
    std::string latest = shorter[chosen->first + chosen->count - 2].tool_calls[0].arguments_json;
    std::replace(latest.begin(), latest.end(), '\n', ' ');
    const std::size_t turns = earlier.turns + chosen->count / 2;
    compact(shorter, *chosen);
    all = std::move(shorter);
    EXPECT_NE(chosen->note.find("work " + latest), std::string::npos) << chosen->note;
    EXPECT_NE(chosen->note.find("[Here " + std::to_string(turns) + " turns"), std::string::npos) << chosen->note;
    EXPECT_NE(chosen->note.find("\nand " + std::to_string(turns - 12) + " before these"), std::string::npos)
        << chosen->note;
    const std::vector<Message> more = conversation_of(10, 300);
    for (std::size_t at = 1; at < more.size(); ++at) {
      all.push_back(more[at]);
      if (at % 2 == 0) continue;
      all.back().tool_calls[0].arguments_json =
          "{\n\"round\": " + std::to_string(round * 100 + static_cast<int>(at)) + "}";
    }
  }
  LeftOut one = take_notes(all);
  EXPECT_EQ(one.named.size(), 12U);
  EXPECT_EQ(take_notes(all).turns, 0U);
  // Where the latest turns that were left out have no calls, those before them are still named.
  std::vector<Message> silent = conversation_of(1, 0);
  for (int turn = 0; turn < 40; ++turn) {
    silent.push_back({.role = "assistant", .content = std::string(300, 'y')});
    silent.push_back({.role = "user", .content = "Go on."});
  }
  const auto chosen = choose_compaction(silent, 1000, 4, one);
  ASSERT_TRUE(chosen);
  EXPECT_NE(chosen->note.find(one.named.back()), std::string::npos) << chosen->note;
}

TEST(Compaction, ShortensTheLastResultsWhereNothingElseCanGo) {
  std::vector<Message> all = conversation_of(1, 40'000);
  all.back().content = "begin " + all.back().content + " end";
  ASSERT_FALSE(choose_compaction(all, 1000, 4));
  const auto shortened = shorten_results(all, 1000, 4);
  ASSERT_TRUE(shortened);
  EXPECT_EQ(shortened->count, 0U);
  EXPECT_GT(shortened->freed_tokens, 8000U);
  std::size_t weight = 0;
  for (const Message& message : all) weight += weight_of(message);
  EXPECT_LE(weight, 2000U);
  EXPECT_TRUE(all.back().content.starts_with("begin ") && all.back().content.ends_with(" end"));
  EXPECT_NE(all.back().content.find("bytes are left out here, since the context is full"), std::string::npos);
  EXPECT_FALSE(shorten_results(all, 1000, 4)) << "it fits";
  EXPECT_TRUE(shorten_results(all, 10, 4));
  EXPECT_GT(all.back().content.size(), 400U) << "something of it stays";
  EXPECT_FALSE(shorten_results(all, 10, 4)) << "nothing is left to go";
}

TEST(PromptSize, TellsWhatIsFixedFromWhatGrows) {
  PromptSize size;
  EXPECT_FALSE(size.is_known());
  EXPECT_NEAR(size.tokens_of(3000), 1000, 1);
  size.measure(2000, 90);  // tools of about 2,000 tokens, and a goal
  EXPECT_NEAR(size.tokens_of(90 + 300), 2100, 1);
  size.measure(2000 + 500, 90 + 2000);  // four bytes a token
  EXPECT_NEAR(size.tokens_of(90 + 4000), 3000, 1);
  EXPECT_NEAR(size.bytes_per_token(), 4, 0.1);
  EXPECT_NEAR(static_cast<double>(size.room_in(8000)), 8000 - 1977, 2);
  EXPECT_EQ(size.room_in(2000), 500U) << "there is something to try with";
  size.measure(2000 + 250, 90 + 1000);  // behind a compaction
  EXPECT_NEAR(size.tokens_of(90 + 4000), 3000, 1);
  size.measure(2000 + 260, 90 + 3000);  // two thousand blanks say nothing of what comes next
  EXPECT_LE(size.bytes_per_token(), 5.1);
  size.forget();
  EXPECT_FALSE(size.is_known());
}

}  // namespace
}  // namespace parlance
