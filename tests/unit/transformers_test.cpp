// Releases of transformers: what they are called, what their rules change, and reading as they do.
#include "parlance/transformers.h"

#include <gtest/gtest.h>

#include "parlance/json.h"
#include "parlance/template.h"

namespace parlance {
namespace {

constexpr std::string_view kPrintsAll =
    "{{ messages }}{{ tools }}{{ add_generation_prompt }}{{ continue_final_message }}{{ x }}";

/// What a template makes of a request that is read and rendered as a release does, or the error's code.
std::string as_release(std::string_view source, std::string_view request, TransformersVersion release,
                       bool as_transformers = true) {
  ReadOptions reading;
  reading.as_transformers = as_transformers;
  reading.transformers = release;
  const Result<Conversation> chat = Conversation::from_json(request, reading);
  if (!chat) return std::string(facts(chat.error().code()).name);
  CompileOptions compiling;
  compiling.transformers = release;
  const Result<Template> compiled = Template::compile(source, compiling);
  if (!compiled) return std::string(facts(compiled.error().code()).name);
  const Result<Rendering> rendering = compiled->render(*chat);
  return rendering ? std::string(rendering->text()) : std::string(facts(rendering.error().code()).name);
}

TEST(Transformers, EveryReleaseIsFoundByItsName) {
  const std::span<const TransformersRelease> releases = transformers_releases();
  for (const TransformersRelease& row : releases) {
    EXPECT_EQ(find_transformers(row.name), &row);
    EXPECT_EQ(&transformers_release(row.version), &row);
  }
  EXPECT_EQ(releases.back().version, kNewestTransformers);
  for (const char* name : {"", "5", "5.2", "5.25", "5.22.9", "v5.22.0", "5.22.", "newest"})
    EXPECT_EQ(find_transformers(name), nullptr) << name;
}

TEST(Transformers, AReleaseWithoutItsLastNumberIsTheFirstOfThem) {
  for (const TransformersRelease& row : transformers_releases()) {
    if (!row.name.ends_with(".0")) continue;
    EXPECT_EQ(find_transformers(row.name.substr(0, row.name.size() - 2)), &row);
  }
}

TEST(Transformers, TheNewestIsFollowedByDefault) {
  EXPECT_EQ(CompileOptions().transformers, kNewestTransformers);
  EXPECT_EQ(ReadOptions().transformers, kNewestTransformers);
}

TEST(Transformers, RulesOfEachRelease) {
  for (const TransformersRelease& row : transformers_releases()) {
    const std::string request = R"({"messages": [{"role": "user", "name": null}]})";
    EXPECT_EQ(as_release("{{ messages }}", request, row.version),
              row.drops_null_members ? "[{'role': 'user'}]" : "[{'role': 'user', 'name': None}]")
        << row.name;
    EXPECT_EQ(as_release("{{ namespace(_a=1)._a }}{{ dict.items is defined }}", request, row.version),
              row.limits_globals ? "security" : "True")
        << row.name;
    EXPECT_EQ(as_release("{{ dict.items is defined }}", request, row.version), row.limits_globals ? "False" : "True")
        << row.name;
  }
}

TEST(Transformers, EveryPassOfTheMethodRunsAndNoOther) {
  const std::string request =
      R"({"messages": [{"role": "developer", "tool_calls": [{"name": "f", "arguments": "{}"}], "reasoning": "r"}],
                                  "model": "m", "think": true, "tokenize": true, "continue_final_message": false})";
  EXPECT_EQ(
      as_release("{{ messages }}{{ tools }}{{ add_generation_prompt }}{{ continue_final_message is defined }}{{ model "
                 "}}{{ tokenize is defined }}",
                 request, kNewestTransformers),
      "[{'thinking': 'r', 'role': 'developer', 'tool_calls': [{'name': 'f', 'arguments': '{}'}], 'reasoning': 'r', "
      "'reasoning_content': 'r'}]NoneFalseFalsemFalse");
}

TEST(Transformers, TheGenerationPromptIsWhatTheRequestSays) {
  const auto prompt = [](std::string_view said) {
    return as_release("{{ add_generation_prompt }}", R"({"messages": [{"role": "user"}])" + std::string(said) + "}",
                      kNewestTransformers);
  };
  EXPECT_EQ(prompt(""), "False");
  EXPECT_EQ(prompt(R"(, "add_generation_prompt": true)"), "True");
  EXPECT_EQ(prompt(R"(, "add_generation_prompt": null)"), "None");
}

TEST(Transformers, TheLastMessageIsContinuedWhereTheRequestSaysSo) {
  const std::string request =
      R"({"messages": [{"role": "assistant", "content": "Old pond"}], "continue_final_message": true})";
  EXPECT_EQ(as_release("{{ continue_final_message }}<{{ messages[0].content }}>", request, kNewestTransformers),
            "<Old pond");
  const std::string closed = R"({"messages": [{"role": "assistant", "content": "a"}], "continue_final_message": )";
  for (const char* value : {"1", "-2", "0.5", "[0]", "{\"a\": 0}"})
    EXPECT_EQ(as_release("{{ messages[0].content }}<end>", closed + value + "}", kNewestTransformers), "a") << value;
  for (const char* value : {"0", "0.0", "[]", "{}", "null", "\"\"", "false"})
    EXPECT_EQ(as_release("{{ messages[0].content }}<end>", closed + value + "}", kNewestTransformers), "a<end>")
        << value;
}

TEST(Transformers, WhatTheMethodRefusesIsNoConversation) {
  for (const char* request : {R"({})", R"({"messages": []})", R"({"messages": null})", R"({"messages": ["x"]})",
                              R"({"messages": [[{"role": "user"}]]})", R"({"messages": [{}], "tools": [1]})",
                              R"({"messages": [{}], "tools": {}})", R"({"messages": [{}], "documents": ["d"]})",
                              R"({"messages": [{}], "continue_final_message": "content"})"}) {
    for (const TransformersRelease& row : transformers_releases())
      EXPECT_EQ(as_release("x", request, row.version), "conversation") << request;
  }
  EXPECT_EQ(as_release(kPrintsAll, R"({"messages": [], "x": 1})", kNewestTransformers, false), "[]NoneTrue1");
}

TEST(Transformers, AConversationThatIsReadAnewForgetsHowItWasRead) {
  Conversation chat;
  ReadOptions reading;
  reading.as_transformers = true;
  ASSERT_TRUE(
      chat.read(R"({"messages": [{"role": "assistant", "content": "a"}], "continue_final_message": true})", reading));
  ASSERT_TRUE(chat.read(R"({"messages": [{"role": "user", "content": "b"}]})"));
  const Result<Template> compiled = Template::compile("{{ messages[0].content }}{{ add_generation_prompt }}");
  ASSERT_TRUE(compiled);
  const Result<Rendering> rendering = compiled->render(chat);
  ASSERT_TRUE(rendering);
  EXPECT_EQ(rendering->text(), "bTrue");
}

}  // namespace
}  // namespace parlance
