// What an agent's loop makes of messages that were read.
#include <gtest/gtest.h>

#include "agent_loop/fields.h"
#include "parlance/json_writer.h"
#include "parlance/sampled_reply.h"

namespace parlance {
namespace {

Message read_message(const std::string& json) {
  Conversation read;
  EXPECT_TRUE(read.read(R"({"messages": [)" + json + "]}", {.normalise = false})) << json;
  Message message = message_of(read.messages().items()[0]);
  move_to_fields(message);
  return message;
}

/// As JSON without blanks.
std::string compact(const std::string& json) {
  Document read;
  EXPECT_TRUE(read.parse(json));
  return json_text(read.root());
}

std::string written(const Message& message) {
  Conversation made;
  EXPECT_TRUE(made.add(message));
  return json_text(made.messages().items()[0]);
}

TEST(AgentFields, SayWhatMembersSaid) {
  const Message message = read_message(
      R"({"role": "assistant", "content": "Hi", "reasoning_content": "So", "name": "me", "more": [1],
          "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{ \"x\": 1 }"},
                          "extra_content": {"signature": "s"}}, {"name": "g", "arguments": {"y": [null]}}]})");
  EXPECT_EQ(message.content, "Hi");
  EXPECT_EQ(message.reasoning_content, "So");
  EXPECT_EQ(message.name, "me");
  ASSERT_EQ(message.tool_calls.size(), 2U);
  EXPECT_EQ(message.tool_calls[0].arguments_json, R"({ "x": 1 })") << "as it was written";
  ASSERT_EQ(message.tool_calls[0].members.size(), 1U);
  EXPECT_EQ(message.tool_calls[0].members[0].name, "extra_content");
  EXPECT_EQ(message.tool_calls[1].name, "g");
  ASSERT_EQ(message.members.size(), 1U);
  EXPECT_EQ(written(message), compact(R"({"role": "assistant", "content": "Hi", "reasoning_content": "So", "name": "me",
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": {"x": 1}},
                    "extra_content": {"signature": "s"}},
                   {"type": "function", "function": {"name": "g", "arguments": {"y": [null]}}}], "more": [1]})"));
}

TEST(AgentFields, PartsStayParts) {
  const std::string parts =
      R"([{"type": "text", "text": "Look "}, {"type": "image_url", "image_url": {"url": "cat.png"}},
          {"type": "text", "text": "here", "cache": true}])";
  const Message message = read_message(R"({"role": "user", "content": )" + parts + "}");
  EXPECT_TRUE(message.members.empty());
  EXPECT_EQ(message.parts.size(), 3U);
  EXPECT_EQ(text_of(message), "Look here");
  EXPECT_EQ(written(message), compact(R"({"role": "user", "content": )" + parts + "}"));
  for (const char* const odd :
       {R"([{"text": "x"}])", R"([{"type": "text", "text": null}])", R"(["x"])", "[]", "null"}) {
    const std::string json = R"({"role": "user", "content": )" + std::string(odd) + "}";
    EXPECT_TRUE(read_message(json).parts.empty()) << odd;
    EXPECT_EQ(written(read_message(json)), compact(json));
  }
}

TEST(AgentFields, UnreadableCallsAreDroppedOnce) {
  const std::string calls = R"([{"id": "a", "function": {"name": "f", "arguments": "{\"x"}}])";
  Message message = read_message(R"({"role": "assistant", "content": "Hi", "tool_calls": )" + calls + "}");
  EXPECT_TRUE(message.tool_calls.empty());
  EXPECT_TRUE(drop_unreadable_calls(message));
  EXPECT_FALSE(drop_unreadable_calls(message));
  EXPECT_EQ(written(message), R"({"role":"assistant","content":"Hi"})");
  Message none = read_message(R"({"role": "assistant", "content": "Hi", "tool_calls": []})");
  EXPECT_FALSE(drop_unreadable_calls(none));
}

std::string open_of(std::vector<std::string> calls, const std::vector<std::string>& results) {
  std::vector<ToolCall> all;
  for (std::string& id : calls) all.push_back({.id = std::move(id), .name = std::to_string(all.size())});
  std::vector<Message> behind;
  for (const std::string& id : results) behind.push_back({.role = "tool", .content = "x", .tool_call_id = id});
  behind.push_back({.role = "user", .content = "x", .tool_call_id = "a"});  // it is no result
  std::string open;
  for (const ToolCall& call : open_calls(all, behind)) open += call.name;
  return open;
}

TEST(AgentFields, OpenCallsAreFoundByIdsAndPlaces) {
  EXPECT_EQ(open_of({"a", "b", "c"}, {}), "012");
  EXPECT_EQ(open_of({"a", "b", "c"}, {"b"}), "02");
  EXPECT_EQ(open_of({"a", "b", "c"}, {"c", "a", "b"}), "");
  EXPECT_EQ(open_of({"", "", ""}, {"", ""}), "2");
  EXPECT_EQ(open_of({"a", "a"}, {"a"}), "1");
  EXPECT_EQ(open_of({"a", "b"}, {"", "a"}), "") << "the one without an id is of the call that is left";
  EXPECT_EQ(open_of({"a"}, {"other"}), "0");
  EXPECT_EQ(open_of({"a"}, {"", "", ""}), "");
}

TEST(AgentFields, NumbersOfCalls) {
  const auto highest = [](const std::vector<std::string>& ids) {
    Message message{.role = "assistant"};
    for (const std::string& id : ids) message.tool_calls.push_back({.id = id, .name = "f"});
    const std::vector<Message> messages = {message, {.role = "user"}};
    return highest_call_number(messages);
  };
  EXPECT_EQ(highest({}), 0U);
  EXPECT_EQ(highest({"call_3", "call_29", "call_4"}), 29U);
  EXPECT_EQ(highest({"call_", "call_x", "call_5_1", "5", "call_99999999999999999999999", "xcall_7"}), 0U);
}

}  // namespace
}  // namespace parlance
