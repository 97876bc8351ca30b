// Tests of how much a request's tools may cost the reader: bounds are counted in what was made, not in time.
#include <gtest/gtest.h>

#include "base/inside.h"
#include "reply/tools.h"

namespace parlance {
namespace {

/// A tool whose schema merges all members of one schema `times` times.
std::string merging_tool(std::size_t number, std::size_t members, std::size_t times) {
  std::string properties, merges;
  for (std::size_t i = 0; i < members; ++i) {
    properties.append(i == 0 ? "" : ",").append("\"p").append(std::to_string(i)).append("\":{\"type\":\"integer\"}");
  }
  for (std::size_t i = 0; i < times; ++i) {
    merges.append(i == 0 ? "" : ",").append("\"m").append(std::to_string(i)).append("\":{\"$ref\":\"#/$defs/all\"}");
  }
  return "{\"name\":\"t" + std::to_string(number) + "\",\"parameters\":{\"$defs\":{\"all\":{\"properties\":{" +
         properties + "}}},\"properties\":{" + merges + "}}}";
}

std::size_t members_of(const ReplyTools& tools) {
  std::size_t all = 0;
  for (const reply::Types::Schema& schema : inside_of(tools)->types.nodes_) all += schema.members.size();
  return all;
}

TEST(ReplyToolsTest, MembersThatAreMergedAreBounded) {
  constexpr std::size_t kMembers = 1000, kTimes = 200, kMostMerged = std::size_t{1} << 18;
  // Few enough: all are merged.
  auto tools = ReplyTools::from_json("[" + merging_tool(0, kMembers, kTimes) + "]");
  ASSERT_TRUE(tools);
  EXPECT_EQ(members_of(*tools), kMembers * (kTimes + 1) + kTimes);

  // Too many in one tool, or in several that each have few enough: what is left out is unknown.
  std::string several;
  for (std::size_t i = 0; i < 4; ++i) several += (i == 0 ? "" : ",") + merging_tool(i, kMembers, kTimes);
  for (const std::string& text : {merging_tool(0, kMembers, 4 * kTimes), several}) {
    tools = ReplyTools::from_json("[" + text + "]");
    ASSERT_TRUE(tools);
    EXPECT_LE(members_of(*tools), kMostMerged + 4 * (kMembers + kTimes));
    EXPECT_GT(members_of(*tools), kMostMerged);
    EXPECT_TRUE(tools->declares("t0"));
  }
}

}  // namespace
}  // namespace parlance
