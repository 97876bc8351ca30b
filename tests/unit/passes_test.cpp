// Passes: what is asked for by words and by values, what is refused, and what wins.
#include <gtest/gtest.h>

#include "parlance/conversation.h"
#include "unit/value_as_json.h"

namespace parlance {
namespace {

using testing::as_json;

TEST(Passes, WhatIsAskedForIsReadOnceAndSaidAgain) {
  // values with commas and semicolons in strings and in brackets
  const char* const words[] = {
      "late-system:system,developer",
      "part-types:user.image_url=image,tool.file",
      "content-parts",
      "reasoning-key:thought",
      R"(reasoning-effort:none=on:false;high=level:"a,b;c=d:\"e",all:[1,{"x":2}],on:true;max=level:"x")",
      "missing-ids",
  };
  Passes passes;
  for (const char* one : words) ASSERT_TRUE(passes.run(one).has_value()) << one;
  EXPECT_EQ(passes.words(), std::vector<std::string>(std::begin(words), std::end(words)));
  const std::vector<EffortSetting>& efforts = passes.setting(Pass::reasoning_effort).efforts;
  ASSERT_EQ(efforts.size(), 3u);
  EXPECT_EQ(efforts[1].variables,
            (std::vector<EffortVariable>{{"level", R"("a,b;c=d:\"e")"}, {"all", R"([1,{"x":2}])"}, {"on", "true"}}));
  Passes other;
  ASSERT_TRUE(other.run(Pass::late_system, {.roles = {"system"}}).has_value());
  EXPECT_FALSE(other == passes);
  for (const char* one : words) ASSERT_TRUE(other.run(one).has_value());
  EXPECT_TRUE(other == passes);
  other.skip(Pass::defaults);
  EXPECT_FALSE(other == passes);
}

TEST(Passes, AValueWithACommaReachesTheTemplate) {
  ReadOptions options;
  const EffortSetting high{"high", {{"level", R"("very, very; high")"}, {"kinds", R"(["a", "b"])"}}};
  ASSERT_TRUE(options.passes.run(Pass::reasoning_effort, {.efforts = {high}}).has_value());
  const auto read = [&] {  // whose options are gone when the conversation is looked at
    const ReadOptions gone = options;
    return Conversation::from_json(R"({"messages": [], "reasoning_effort": "high"})", gone);
  };
  const Result<Conversation> chat = read();
  options = {};
  ASSERT_TRUE(chat.has_value());
  EXPECT_EQ(as_json(chat->variables()["level"]), R"("very, very; high")");
  EXPECT_EQ(as_json(chat->variables()["kinds"]), R"(["a","b"])");
}

TEST(Passes, RefusesWhatAPassDoesNotTake) {
  for (const char* words :
       {"null-content:user", "reasoning-key", "reasoning-part", "reasoning-key:", "developer-role:x", "part-types",
        "part-types:user", "no-place:.image_url", "reasoning-effort", "reasoning-effort:high",
        "reasoning-effort:high=level", "reasoning-effort:high=level:low", "reasoning-effort:high=level:"}) {
    Passes passes;
    const Result<void> asked = passes.run(words);
    ASSERT_FALSE(asked.has_value()) << words;
    EXPECT_EQ(asked.error().code(), ErrorCode::usage) << words;
    EXPECT_TRUE(passes == Passes()) << words;
  }
  Passes passes;
  EXPECT_FALSE(passes.run(Pass::missing_ids, {.roles = {"user"}}).has_value());
  EXPECT_FALSE(passes.run(Pass::content_parts, {.name = "user"}).has_value());
  EXPECT_FALSE(passes.run(Pass::no_place).has_value());
  EXPECT_FALSE(passes.skip("content-parts:user").has_value());
  EXPECT_TRUE(passes == Passes());
}

TEST(Passes, RefusesUnknownNames) {
  Passes passes;
  const Result<void> skipped = passes.skip("defualts"), asked = passes.run("content-part:user");
  ASSERT_FALSE(skipped.has_value());
  EXPECT_EQ(skipped.error().code(), ErrorCode::usage);
  EXPECT_EQ(skipped.error().message(), "there is no pass 'defualts'");
  EXPECT_EQ(skipped.error().hint(), "did you mean 'defaults'?");
  ASSERT_FALSE(asked.has_value());
  EXPECT_EQ(asked.error().hint(), "did you mean 'content-parts'?");
}

TEST(Passes, SkippingWinsOverAsking) {
  const char* request = R"({"messages": [{"role": "assistant", "content": "", "tool_calls": [{"function": {}}]}]})";
  for (const bool skipped : {false, true}) {
    ReadOptions options{.passes = *Passes::of({"missing-ids"})};
    if (skipped) options.passes.skip(Pass::missing_ids);
    const Result<Conversation> chat = Conversation::from_json(request, options);
    ASSERT_TRUE(chat.has_value());
    EXPECT_EQ(chat->messages().items()[0]["tool_calls"].items()[0]["id"].is_undefined(), skipped);
  }
}

}  // namespace
}  // namespace parlance
