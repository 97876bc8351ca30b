// Normalisation: one row a pass and case; the variables before and after, and the notes.
#include "conversation/normalise.h"

#include <gtest/gtest.h>

#include "conversation/edit.h"
#include "value/json.h"

namespace parlance {
namespace {

struct Row {
  const char* pass;
  const char* before;  ///< a request
  const char* after;   ///< its variables after the pass alone
  std::vector<std::string> notes;
};

#define IN_MESSAGE(members) "{\"messages\": [{\"role\": \"assistant\"" members "}]}"
#define OUT_MESSAGE(members) "{\"messages\":[{\"role\":\"assistant\"" members "}]}"
#define CALL(function) ", \"content\": \"\", \"tool_calls\": [{\"function\": {" function "}}]"
#define CALL_OUT(function) ",\"content\":\"\",\"tool_calls\":[{\"function\":{" function "}}]"

const Row kRows[] = {
    {"chat-template-kwargs",
     R"({"messages": [], "a": 1, "chat_template_kwargs": {"a": 2, "b": true, "messages": 0}})",
     R"({"messages":[],"a":2,"b":true})",
     {"a: set by chat_template_kwargs (chat-template-kwargs)",
      "b: set by chat_template_kwargs (chat-template-kwargs)"}},
    {"drop-request-members",
     R"({"model": "m", "messages": [], "temperature": 1, "tool_choice": "auto"})",
     R"({"messages":[],"tool_choice":"auto"})",
     {"model: not a variable (drop-request-members)",
      "temperature: not a variable (drop-request-members)"}},
    {"wrap-tools",
     R"({"messages": [], "tools": [{"type": "function", "name": "f", "parameters": {}}, {"function": {}}, 3]})",
     R"({"messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{}}},{"function":{}},3]})",
     {"tools[0]: wrapped as a function (wrap-tools)"}},
    {"wrap-calls",
     IN_MESSAGE(", \"content\": \"\", \"tool_calls\": [{\"id\": \"1\", \"name\": \"f\", "
                "\"arguments\": {}}]"),
     OUT_MESSAGE(",\"content\":\"\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\","
                 "\"function\":{\"name\":\"f\",\"arguments\":{}}}]"),
     {"messages[0].tool_calls[0]: wrapped as a function (wrap-calls)"}},
    {"parse-arguments",
     IN_MESSAGE(CALL(R"("arguments": " {\"a\": 1e400} ")")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":{"a":Infinity})")),
     {"messages[0].tool_calls[0].function.arguments: parsed from a JSON string (parse-arguments)"}},
    {"parse-arguments",
     IN_MESSAGE(CALL(R"("arguments": "[1]")")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":"[1]")")),
     {}},
    {"parse-arguments",
     IN_MESSAGE(CALL(R"("arguments": "{no")")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":"{no")")),
     {}},
    {"parse-arguments",
     IN_MESSAGE(CALL(R"("name": "f")")),
     OUT_MESSAGE(CALL_OUT(R"("name":"f")")),
     {}},
    {"empty-arguments",
     IN_MESSAGE(CALL(R"("arguments": " ")")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":{})")),
     {"messages[0].tool_calls[0].function.arguments: an empty object (empty-arguments)"}},
    {"empty-arguments",
     IN_MESSAGE(CALL(R"("arguments": null)")),
     OUT_MESSAGE(CALL_OUT(R"("arguments":{})")),
     {"messages[0].tool_calls[0].function.arguments: an empty object (empty-arguments)"}},
    {"null-content",
     IN_MESSAGE(", \"content\": null"),
     OUT_MESSAGE(",\"content\":\"\""),
     {"messages[0].content: empty text (null-content)"}},
    {"null-content",
     IN_MESSAGE(", \"tool_calls\": []"),
     OUT_MESSAGE(",\"tool_calls\":[],\"content\":\"\""),
     {"messages[0].content: empty text (null-content)"}},
    {"null-content", IN_MESSAGE(""), OUT_MESSAGE(""), {}},
    {"content-parts",
     IN_MESSAGE(R"(, "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])"),
     OUT_MESSAGE(",\"content\":\"a\\nb\""),
     {"messages[0].content: joined from text parts (content-parts)"}},
    {"content-parts",
     IN_MESSAGE(R"(, "content": [{"type": "text", "text": "a"}, {"type": "image"}])"),
     OUT_MESSAGE(",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\"}]"),
     {}},
    {"content-parts",
     IN_MESSAGE(R"(, "content": [])"),
     OUT_MESSAGE(",\"content\":\"\""),
     {"messages[0].content: joined from text parts (content-parts)"}},
    {"reasoning-names",
     IN_MESSAGE(R"(, "reasoning": "r")"),
     OUT_MESSAGE(",\"reasoning\":\"r\",\"reasoning_content\":\"r\""),
     {"messages[0].reasoning_content: taken from reasoning (reasoning-names)"}},
    {"reasoning-names",
     IN_MESSAGE(R"(, "reasoning": "r", "reasoning_content": "s")"),
     OUT_MESSAGE(",\"reasoning\":\"r\",\"reasoning_content\":\"s\""),
     {}},
    {"reasoning-names",
     IN_MESSAGE(R"(, "thinking": "t")"),
     OUT_MESSAGE(",\"thinking\":\"t\",\"reasoning_content\":\"t\""),
     {"messages[0].reasoning_content: taken from reasoning (reasoning-names)"}},
    {"generate-request",
     R"({"prompt": "p", "system": "s", "images": ["aGk="]})",
     R"({"messages":[{"role":"system","content":"s"},{"role":"user","content":"p","images":["aGk="]}]})",
     {"messages: made of the prompt (generate-request)"}},
    {"generate-request",
     R"({"prompt": "p", "suffix": "s"})",
     R"({"prompt":"p","suffix":"s","messages":[]})",
     {"messages: made of the prompt (generate-request)"}},
    {"ollama-names",
     IN_MESSAGE(R"(, "tool_name": "f")"),
     OUT_MESSAGE(",\"tool_name\":\"f\",\"name\":\"f\""),
     {"messages[0].name: taken from tool_name (ollama-names)"}},
    {"ollama-think",
     R"({"messages": [], "think": "low"})",
     R"({"messages":[],"think":"low","enable_thinking":true,"reasoning_effort":"low"})",
     {"enable_thinking: taken from think (ollama-think)", "reasoning_effort: taken from think (ollama-think)"}},
    {"developer-role",
     R"({"messages": [{"role": "developer"}, {"role": "user"}]})",
     R"({"messages":[{"role":"system"},{"role":"user"}]})",
     {"messages[0].role: was developer (developer-role)"}},
    {"defaults",
     R"({"messages": [], "documents": [1]})",
     R"({"messages":[],"documents":[1],"tools":null})",
     {"tools: none (defaults)"}},
};

#undef IN_MESSAGE
#undef OUT_MESSAGE
#undef CALL
#undef CALL_OUT

ReadOptions only(std::string_view name) {
  ReadOptions options;
  for (const NormalisePass& pass : normalise_passes()) {
    auto& names = pass.name == name ? options.extra_passes : options.skip_passes;
    names.emplace_back(pass.name);
  }
  return options;
}

std::string as_json(Value v) {
  Arena arena;
  const Limits limits;
  Runtime rt(arena, limits);
  std::string out;
  EXPECT_TRUE(append_json(rt, out, v));
  return out;
}

TEST(Normalise, EachPassAlone) {
  for (const Row& row : kRows) {
    const Result<Conversation> chat = Conversation::from_json(row.before, only(row.pass));
    ASSERT_TRUE(chat.has_value()) << row.before << "\n" << chat.error().display();
    EXPECT_EQ(as_json(chat->variables()), row.after) << row.pass;
    EXPECT_EQ(chat->notes(), row.notes) << row.pass;
  }
}

TEST(Normalise, EveryPassHasARow) {
  for (const NormalisePass& pass : normalise_passes()) {
    const bool found = std::any_of(std::begin(kRows), std::end(kRows),
                                   [&](const Row& row) { return row.pass == pass.name; });
    EXPECT_TRUE(found) << pass.name;
  }
}

TEST(Normalise, SharesWhatItDoesNotChange) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"messages": [{"role": "user", "content": "x"}, {"role": "tool", "content": null}]})");
  ASSERT_TRUE(chat.has_value());
  const Value document = chat->state().document.root();
  const Value before = *member(document, "messages");
  const Value after = chat->messages();
  EXPECT_NE(before.list, after.list);
  EXPECT_EQ(before.list->items[0].dict, after.list->items[0].dict);
  EXPECT_EQ(before.list->origin, after.list->origin);
  EXPECT_EQ(before.list->items[1].dict->origin, after.list->items[1].dict->origin);
  EXPECT_EQ(member(before.list->items[1], "role")->data,
            member(after.list->items[1], "role")->data);
}

TEST(Normalise, FlatCallsWithTextArguments) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{\"a\": []}"}]}]})");
  ASSERT_TRUE(chat.has_value());
  EXPECT_EQ(
      as_json(chat->messages()),
      R"([{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":{"a":[]}}}],"content":""}])");
}

TEST(Normalise, RefusesUnknownPasses) {
  const Result<Conversation> chat =
      Conversation::from_json(R"({"messages": []})", {.skip_passes = {"defualts"}});
  ASSERT_FALSE(chat.has_value());
  EXPECT_EQ(chat.error().code(), ErrorCode::usage);
}

}  // namespace
}  // namespace parlance
