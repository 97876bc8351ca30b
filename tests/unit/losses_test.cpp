// What LossFinder's options bound; what it finds is tested by tests/losses_test.py and tests/cli/run_losses_tests.py.
#include "parlance/losses.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parlance/conversation.h"

namespace parlance {
namespace {

/// Does a note say that this Go template does not see the wish to think?
bool says_unseen(const char* text, std::size_t experiments) {
  const Result<Template> made = Template::compile(text, {.syntax = Syntax::go});
  EXPECT_TRUE(made) << made.error().display();
  const Result<Conversation> chat =
      Conversation::from_json(R"({"messages": [{"role": "user", "content": "Hi"}], "think": true})");
  EXPECT_TRUE(chat) << chat.error().display();
  const LossFinder finder(*made, {.experiments = experiments});
  Workspace workspace;
  const Result<CheckedRendering> prompt = finder.render(*chat, {}, workspace);
  EXPECT_TRUE(prompt) << prompt.error().display();
  return std::ranges::any_of(prompt->losses, [](const Loss& loss) { return loss.path == "think"; });
}

TEST(Losses, ExperimentsBoundHowManyValuesOfThinkAreTried) {
  constexpr const char* kBlind = "{{ range .Messages }}{{ .Content }}{{ end }}";
  EXPECT_TRUE(says_unseen(kBlind, 32));
  EXPECT_TRUE(says_unseen(kBlind, 5));
  for (const std::size_t few : {0, 1, 4}) EXPECT_FALSE(says_unseen(kBlind, few)) << few;
  EXPECT_FALSE(says_unseen("{{ if .Think }}think{{ end }}{{ range .Messages }}{{ .Content }}{{ end }}", 32));
}

/// Paths of members that are given twice, as the losses of a prompt name them.
std::string members_given_twice(const Conversation& chat) {
  const Result<Template> made = Template::compile("{{ messages }}{{ tools }}");
  const LossFinder finder(*made, {});
  Workspace workspace;
  const Result<CheckedRendering> prompt = finder.render(chat, {}, workspace);
  EXPECT_TRUE(prompt) << prompt.error().display();
  std::string all;
  for (const Loss& loss : prompt->losses) {
    if (loss.subject == "member") all += loss.path + ": " + loss.sentence + "; ";
  }
  return all;
}

TEST(Losses, JsonTextOfABuilderIsReadAsARequestIs) {
  const std::string twice = ": given twice: the last counts; ";
  Conversation chat;
  ASSERT_TRUE(chat.add({.role = "user", .content = "Hi"}));
  Message message{.role = "assistant", .content = ""};
  message.tool_calls = {{.id = "1", .name = "f", .arguments_json = R"({"a": 1})"},
                        {.id = "2", .name = "g", .arguments_json = R"({"a": 1, "b": {"c d": 1, "c d": 2}, "a": 3})"}};
  message.members = {{"extra", R"([{"x": 1, "x": 2}])"}};
  message.parts = {{.type = "text", .text = "t"},
                   {.type = "image", .members = {{"image", R"({"url": "a", "url": "b"})"}}}};
  ASSERT_TRUE(chat.add(message));
  const std::string of_message =
      "messages[1].content[1].image.url" + twice + "messages[1].tool_calls[1].function.arguments.a" + twice +
      "messages[1].tool_calls[1].function.arguments.b[\"c d\"]" + twice + "messages[1].extra[0].x" + twice;
  EXPECT_EQ(members_given_twice(chat), of_message);
  ASSERT_TRUE(chat.set_json("tools", R"([{"name": "f", "name": "g", "name": "h"}])"));
  EXPECT_EQ(members_given_twice(chat), of_message + "tools[0].name: given 3 times: the last counts; ");
  ASSERT_TRUE(chat.set_json("tools", "[]"));
  EXPECT_EQ(members_given_twice(chat), of_message) << "a variable that is set anew";
  ASSERT_TRUE(chat.read(R"({"messages": []})"));
  EXPECT_EQ(members_given_twice(chat), "");
}

TEST(Losses, WhatPassesLeaveOutIsKnownWithoutARender) {
  const auto known = [](std::string_view request) {
    const Result<Conversation> chat = Conversation::from_json(request);
    EXPECT_TRUE(chat) << chat.error().display();
    std::string all;
    for (const Loss& loss : known_losses(*chat)) all += std::string(loss.subject) + " " + loss.path + "; ";
    return all;
  };
  EXPECT_EQ(known(R"({"messages": [{"role": "oracle", "content": "x"}], "documents": [{"text": "x"}]})"), "");
  EXPECT_EQ(known(R"({"input": "Hi", "tools": [{"type": "web_search"}]})"), "tool tools[0]; ");
  EXPECT_EQ(known(R"({"messages": [], "tools": [{"name": "f", "name": "g"}]})"), "member tools[0].name; ");
}

}  // namespace
}  // namespace parlance
