// The text of a custom tool's call: out of JSON, in any pieces, and as messages say it.
#include "reply/custom_input.h"

#include <gtest/gtest.h>

#include <random>

#include "json/json.h"
#include "parlance/json.h"
#include "parlance/reply.h"
#include "value/dict.h"
#include "value/string.h"

namespace parlance {
namespace {

struct CustomInputRow {
  const char* arguments;
  const char* input;
  bool exact;
};

const CustomInputRow kCustomInputRows[] = {
    {R"({"input": "a"})", "a", true},
    {" {\t\"input\"\n:  \"\" }\n", "", true},
    {R"({"input":"\"\\\/\b\f\n\r\té\u00e9\u4e2d"})", "\"\\/\b\f\n\r\té\u00e9\u4e2d", true},
    {R"({"input": "\ud83d\ude42"})", "🙂", true},
    {R"({"input": "\ud83d\ud83d\ude42x\ud83dy\ude42"})", "\xED\xA0\xBD🙂x\xED\xA0\xBDy\xED\xB9\x82", true},
    {R"({"input": "\ud83d"})", "\xED\xA0\xBD", true},
    {R"({"input": "a\u00)", "a", false},
    {R"({"input": "a\)", "a", false},
    {R"({"input": "a)", "a", false},
    {R"({"input": "a", "more": 1})", "a", false},
    {R"({"input": "a"} x)", "a", false},
    {R"({"input": 5})", R"({"input": 5})", false},
    {R"({"inputs": "a"})", R"({"inputs": "a"})", false},
    {R"({"in put": "a"})", R"({"in put": "a"})", false},
    {R"({"text": "\"a"})", R"({"text": "\"a"})", false},
    {R"({})", "{}", false},
    {R"([1])", "[1]", false},
    {R"(  "x")", R"(  "x")", false},
    {R"({"inp)", "", false},
    {"", "", false},
};

TEST(CustomInput, TakesTheTextOutOfArguments) {
  for (const CustomInputRow& row : kCustomInputRows) {
    const reply::CustomText text = reply::custom_text(row.arguments);
    EXPECT_EQ(text.input, row.input) << row.arguments;
    EXPECT_EQ(text.exact, row.exact) << row.arguments;
  }
}

TEST(CustomInput, PiecesDoNotMatter) {
  for (const CustomInputRow& row : kCustomInputRows) {
    const std::string_view all = row.arguments;
    for (std::size_t size = 1; size <= all.size(); ++size) {
      reply::CustomInput input;
      std::string text;
      for (std::size_t i = 0; i < all.size(); i += size) text += input.take(all.substr(i, size));
      EXPECT_EQ(text, row.input) << row.arguments << " by " << size;
      EXPECT_EQ(input.exact(), row.exact) << row.arguments << " by " << size;
    }
  }
}

/// What the project's own reader of JSON says is the text.
TEST(CustomInput, IsWhatTheReaderOfJsonSays) {
  std::mt19937_64 random(1);
  constexpr std::string_view kParts[] = {"a", " ",  "\\n", "\\\"", "\\\\", "\\u0041", "\\ud83d", "\\ude42",
                                         "é", "🙂", "}",   "{",    ":",    "\\/",     "input"};
  for (int i = 0; i < 20000; ++i) {
    std::string arguments = R"({"input": ")";
    for (std::size_t parts = random() % 8; parts > 0; --parts) arguments += kParts[random() % std::size(kParts)];
    arguments += "\"}";
    Document document;
    ASSERT_TRUE(document.parse(arguments)) << arguments;
    const reply::CustomText text = reply::custom_text(arguments);
    EXPECT_TRUE(text.exact) << arguments;
    EXPECT_EQ(text.input, leaf_text(*member(document.root(), "input"))) << arguments;
  }
}

std::string message_with(const ReplyOptions& options, std::string_view reply) {
  static const auto format = ReplyFormat::from_json(
      R"({"calls": [{"call": ["<c>", {"object": {"name": "name", "arguments": "arguments"}}, "</c>"]}]})");
  ReplyMessage message;
  const auto sink = [&](const ReplyEvent& event) { message.add(event); };
  ReplyParser parser = *ReplyParser::make(*format, options);
  parser.feed(reply, sink);
  parser.finish(sink);
  return message.message_json();
}

TEST(CustomInput, CallsOfCustomToolsComeBackAsSuch) {
  const auto tools = ReplyTools::from_json(
      R"([{"type": "custom", "custom": {"name": "run"}}, {"type": "custom", "name": "say"}, {"type": "custom", )"
      R"("name": "both"},
      {"type": "function", "function": {"name": "both"}}, {"type": "function", "function": {"name": "f"}}])");
  ASSERT_TRUE(tools);
  for (const std::string_view name : {"run", "say"}) EXPECT_TRUE(tools->is_custom(name)) << name;
  for (const std::string_view name : {"both", "f", "g"}) EXPECT_FALSE(tools->is_custom(name)) << name;
  EXPECT_FALSE(ReplyTools().is_custom("run"));
  const auto call = [](const std::string& name, const std::string& arguments) {
    return "<c>{\"name\": \"" + name + "\", \"arguments\": " + arguments;
  };
  const std::string head = R"({"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": )";
  EXPECT_EQ(message_with({.tools = *tools}, call("run", R"({"input": "1 < \"2\""}}</c>)")),
            head + R"("custom", "custom": {"name": "run", "input": "1 < \"2\""}, "complete": true}]})");
  EXPECT_EQ(message_with({.tools = *tools}, call("run", R"({"code": 1}}</c>)")),
            head + R"("custom", "custom": {"name": "run", "input": "{\"code\": 1}"}, "arguments": "{\"code\": 1}", )"
                   R"("complete": true}]})");
  EXPECT_EQ(message_with({.tools = *tools}, call("run", R"({"input": "1 <)")),
            head +
                R"("custom", "custom": {"name": "run", "input": "1 <"}, "arguments": "{\"input\": \"1 <", "complete": )"
                R"(false}]})");
  for (const std::string name : {"both", "f"}) {
    EXPECT_EQ(message_with({.tools = *tools}, call(name, R"({"input": "1"}}</c>)")),
              head + R"("function", "function": {"name": ")" + name +
                  R"(", "arguments": "{\"input\": \"1\"}"}, "complete": true}]})");
  }
}

}  // namespace
}  // namespace parlance
