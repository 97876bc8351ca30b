// Requests of other APIs where they are normalised: what a chat cannot say, and where each message stood.
#include <gtest/gtest.h>

#include "conversation/edit.h"
#include "conversation/normalise.h"
#include "parlance/conversation.h"

namespace parlance {
namespace {

TEST(NormaliseApis, WhatOtherApisSayAndAChatCannot) {
  struct Refused {
    const char* request;
    const char* path;
    const char* message;
  };
  const Refused rows[] = {
      {R"({"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "base64", "media_type": )"
       R"("application/pdf", "data": ""}}]}]})",
       "messages[0].content[0]", "Anthropic Messages: a document (application/pdf) cannot be converted"},
      {R"({"system": "s", "messages": [{"role": "critic", "content": "r"}]})", "messages[0].role",
       "Anthropic Messages: 'critic' is not a role of this API, which has user and assistant"},
      {R"({"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}, {"role": "tool", )"
       R"("content": "r"}]})",
       "messages[1].role",
       "the request mixes Anthropic Messages (`messages[0].content[0]`) with OpenAI's chat (`messages[1].role`)"},
      {R"({"system": "s", "messages": [], "tools": [{"name": "g", "input_schema": {}}, {"type": "function", )"
       R"("function": {"name": "f"}}]})",
       "tools[1].function",
       "the request mixes Anthropic Messages (`tools[0]`) with OpenAI's chat (`tools[1].function`)"},
      {R"({"system": "s", "messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": )"
       R"("f", "input": {}}], "tool_calls": [{}]}]})",
       "messages[0].tool_calls",
       "the request mixes Anthropic Messages (`messages[0].content[0]`) with OpenAI's chat (`messages[0].tool_calls`)"},
      {R"({"messages": [], "system": "s", "contents": []})", "contents",
       "the request mixes Anthropic Messages (`system`) with Gemini (`contents`)"},
      {R"({"messages": [], "input": []})", "messages",
       "the request mixes OpenAI Responses (`input`) with OpenAI's chat (`messages`)"},
      {R"({"input": "a", "previous_response_id": "resp_1"})", "previous_response_id",
       "OpenAI Responses: `previous_response_id` is state on a server, which is not in the request"},
      {R"({"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "file-1"}]}]})",
       "input[0].content[0].file_id", "OpenAI Responses: a file_id names what is kept on a server"},
      {R"({"input": [{"type": "weather_call", "id": "1"}]})", "input[0]",
       "OpenAI Responses: an item of the type 'weather_call' cannot be converted"},
      {R"({"input": "a", "tools": [{"name": "f"}, {"type": "namespace", "name": "browser"}]})", "tools[1]",
       "OpenAI Responses: `tools` is missing in a namespace"},
      {R"({"contents": [{"role": "assistant", "parts": []}]})", "contents[0].role",
       "Gemini: 'assistant' is not a role of this API, which has user and model"},
      {R"({"contents": [{"parts": [{"executableCode": {"code": "1"}}]}]})", "contents[0].parts[0].executableCode",
       "Gemini: code that the API itself runs cannot be converted"},
      {R"({"system_instruction": {"parts": [{"text": "S"}]}, "systemInstruction": "T", "contents": "a"})",
       "system_instruction",
       "Gemini: `system_instruction` stands beside `systemInstruction`, which is the same member"},
      {R"({"systemInstruction": {"parts": [{"text": "", "inlineData": {"mimeType": "image/png", "data": "QQ=="}}]}, )"
       R"("contents": "a"})",
       "systemInstruction.parts[0]", "Gemini: `systemInstruction` is text, and has no `inlineData`"},
      {R"({"contents": "a", "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "thinking_level": )"
       R"("HIGH"}}})",
       "generationConfig.thinkingConfig.thinking_level",
       "Gemini: `thinking_level` stands beside `thinkingLevel`, which is the same member"},
      {R"({"contents": [{"role": ["model"], "parts": [{"text": "a"}]}]})", "contents[0].role",
       "Gemini: `role` is not a string"},
      {R"({"contents": [{"role": "model", "parts": [{"text": "a", "thought": "true"}]}]})",
       "contents[0].parts[0].thought", "Gemini: `thought` is not true or false"},
      {R"({"contents": "a", "toolConfig": {"functionCallingConfig": "NONE"}})", "toolConfig.functionCallingConfig",
       "Gemini: `functionCallingConfig` is not an object"},
      {R"({"contents": "a", "generationConfig": {"thinkingConfig": "high"}})", "generationConfig.thinkingConfig",
       "Gemini: `thinkingConfig` is not an object"},
      {R"({"conversations": [{"from": "narrator", "value": "a"}]})", "conversations[0].from",
       "ShareGPT: 'narrator' is not a known speaker"},
      {R"({"conversations": [{"from": "function_call", "value": "{"}]})", "conversations[0].value",
       "ShareGPT: this text is not JSON: Expecting property name enclosed in double quotes"},
      {R"({"instruction": "Sort.", "input": "3 1 2", "output": "1 2 3"})", "instruction",
       "a record of instructions (`instruction`, `input`, `output`) is data for training and no chat request"},
      {R"({"prompt": "q", "completion": "a"})", "completion",
       "a row of `prompt` and `completion` is data for training and no chat request"},
      {R"({"prompt": [{"role": "user", "content": "q"}], "chosen": [], "rejected": []})", "chosen",
       "a row of `prompt` and `chosen` is data for training and no chat request"},
      {R"({"messages": [], "functions": [{"name": "f"}], "tools": []})", "tools",
       "OpenAI's old functions: the request has `tools` beside `functions`"},
  };
  for (const Refused& row : rows) {
    const Result<Conversation> refused = Conversation::from_json(row.request);
    ASSERT_FALSE(refused.has_value()) << row.request;
    EXPECT_EQ(refused.error().code(), ErrorCode::conversation);
    EXPECT_EQ(refused.error().input_path(), row.path);
    EXPECT_EQ(refused.error().message(), row.message);
    EXPECT_FALSE(refused.error().hint().empty());
  }
}

/// Each kind of data that a part of Gemini's may have, beside each other kind, in both spellings: one would be lost.
TEST(NormaliseApis, APartOfGeminiHasOneKindOfData) {
  struct Data {
    std::string camel, snake, json;
  };
  const Data rows[] = {
      {"text", "text", R"("a")"},
      {"inlineData", "inline_data", R"({"mimeType": "image/png", "data": "QQ=="})"},
      {"fileData", "file_data", R"({"mimeType": "image/png", "fileUri": "https://x/y.png"})"},
      {"functionCall", "function_call", R"({"name": "f", "args": {}})"},
      {"functionResponse", "function_response", R"({"name": "f", "response": {"output": "r"}})"},
      {"executableCode", "executable_code", R"({"code": "1"})"},
      {"codeExecutionResult", "code_execution_result", R"({"output": "1"})"},
  };
  const auto with = [](const std::string& members) {
    return Conversation::from_json(R"({"contents": [{"role": "model", "parts": [{)" + members + "}]}]}");
  };
  for (const Data& one : rows) {
    for (const Data& other : rows) {
      if (one.camel == other.camel) continue;
      for (const std::string& first : {one.camel, one.snake}) {
        for (const std::string& second : {other.camel, other.snake}) {
          const Result<Conversation> both =
              with("\"" + first + "\": " + one.json + ", \"" + second + "\": " + other.json);
          ASSERT_FALSE(both.has_value()) << first << " " << second;
          EXPECT_NE(both.error().message().find("a part has one kind of data"), std::string::npos)
              << both.error().message();
        }
      }
      if (other.camel == "text") continue;  // the same in both spellings
      const Result<Conversation> twice =
          with("\"" + other.camel + "\": " + other.json + ", \"" + other.snake + "\": " + other.json);
      EXPECT_FALSE(twice.has_value()) << other.camel;
    }
  }
  for (const char* blank : {R"("text": "")", R"("text": null)"}) {
    const Result<Conversation> call = with(std::string(blank) + R"(, "functionCall": {"name": "f"})");
    ASSERT_TRUE(call.has_value()) << blank;
    EXPECT_NE(member(items(call->messages())[0], "tool_calls"), nullptr) << blank;
  }
}

TEST(NormaliseApis, WhatStandsBesideGeminisContentsIsHeld) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"contents": "a", "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {}, )"
      R"("parameters": {"type": "OBJECT"}}]}],
          "toolConfig": {"functionCallingConfig": {"allowedFunctionNames": ["f"]}, "other": 1},
          "generationConfig": {"thinkingConfig": {"thinkingLevel": "ULTRA", "more": 1}, "responseSchema": {}, )"
      R"("responseJsonSchema": {}}})");
  ASSERT_TRUE(chat.has_value());
  for (const char* name : {"tools", "tool_choice", "reasoning_effort", "response_format"})
    EXPECT_NE(member(chat->variables(), name), nullptr) << name;
  std::vector<std::string> lost;
  for (const Change& change : inside_of(*chat).changes) {
    if (!change.loses.empty()) lost.push_back(place_of(inside_of(*chat), change));
  }
  EXPECT_EQ(lost,
            (std::vector<std::string>{"tools[0].functionDeclarations[0].parameters", "toolConfig.other",
                                      "generationConfig.responseSchema", "generationConfig.thinkingConfig.more"}));
}

TEST(NormaliseApis, ANamespaceOfResponsesGivesItsFunctions) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"input": "a", "tools": [{"type": "function", "name": "f"}, {"type": "namespace", "name": "crm", )"
      R"("description": "Customers.",
          "tools": [{"type": "function", "name": "g", "parameters": {}}, {"type": "custom", "name": "h"}, {"type": )"
      R"("namespace", "name": "n", "tools": []}]}]})");
  ASSERT_TRUE(chat.has_value());
  std::vector<std::string> names;
  for (const Value& tool : items(chat->tools())) {
    const Value inner = member_value(tool, "function");
    names.emplace_back(leaf_text(member_value(inner.is_undefined() ? tool : inner, "name")));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"f", "g", "h"}));
  std::vector<std::string> lost;
  for (const Change& change : inside_of(*chat).changes) {
    if (!change.loses.empty()) lost.push_back(place_of(inside_of(*chat), change));
  }
  EXPECT_EQ(lost, (std::vector<std::string>{"tools[1].description", "tools[1].tools[2]"}));
}

TEST(NormaliseApis, CallsOfANamespaceHaveTheNameThatTheModelKnows) {
  const auto names = [](const char* tools) {
    const Result<Conversation> chat = Conversation::from_json(
        std::string(R"({"input": [{"role": "user", "content": "a"}, {"type": "function_call", "call_id": "1", "name": )"
                    R"("g", "namespace": "crm", "arguments": "{}"}, {"type": "function_call", "call_id": "2", "name": )"
                    R"("g", "arguments": "{}"}], "tool_choice": {"type": "function", "namespace": "crm", "name": )"
                    R"("g"}, "tools": )") +
        tools + "}");
    if (!chat) return chat.error().display();
    std::string all;
    for (const Value& tool : chat->tools().items()) {
      const Value inner = member_value(tool, "function");
      all.append(leaf_text(member_value(inner.is_undefined() ? tool : inner, "name"))).append(" ");
    }
    for (const Value& call : items(chat->messages())[1]["tool_calls"].items())
      all.append("|").append(call["function"]["name"].text());
    return all.append("|").append(chat->variables()["tool_choice"]["function"]["name"].text());
  };
  constexpr const char* kCrm = R"({"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "g"}]})";
  const auto list = [&](std::string more) { return "[" + std::string(kCrm) + more + "]"; };
  EXPECT_EQ(names(list("").c_str()), "g |g|g|g");
  EXPECT_EQ(names("[]"), "|g|g|g");
  EXPECT_EQ(names(list(R"(, {"type": "function", "name": "g"})").c_str()), "crm__g g |crm__g|g|crm__g");
  EXPECT_EQ(
      names(list(R"(, {"type": "namespace", "name": "erp__", "tools": [{"type": "custom", "name": "g"}]})").c_str()),
      "crm__g erp__g |crm__g|g|crm__g");
  // a name that is another's already, or too long for an API, has digits of its own
  const std::string taken = names(list(R"(, {"name": "g"}, {"name": "crm__g"})").c_str());
  EXPECT_EQ(taken.substr(0, 7), "crm__g_");
  const std::string space(62, 's');
  const std::string longer =
      names(("[{\"name\": \"g\"}, {\"type\": \"namespace\", \"name\": \"" + space + R"(", "tools": [{"name": "g"}]}])")
                .c_str());
  EXPECT_EQ(longer.substr(0, 2 + 55), "g " + std::string(55, 's'));
  EXPECT_EQ(longer.substr(2).find(' '), 64U);
}

/// The messages, each by its role and its content, and behind them the places of what was lost.
std::string said_and_lost(const char* request) {
  const Result<Conversation> chat = Conversation::from_json(request);
  if (!chat) return chat.error().display();
  std::string all;
  for (const Value& message : items(chat->messages())) {
    all.append(message["role"].text()).append(" ").append(json_text(message["content"])).append("\n");
    for (const Value& call : message["tool_calls"].items()) all.append(call["function"]["name"].text()).append("\n");
  }
  for (const Change& change : inside_of(*chat).changes) {
    if (!change.loses.empty()) all.append("lost ").append(place_of(inside_of(*chat), change)).append("\n");
  }
  return all;
}

TEST(NormaliseApis, WhatTheApisOwnToolsDidIsPassedOver) {
  EXPECT_EQ(said_and_lost(
                R"({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": [
      {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
      {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
      {"type": "mcp_tool_use", "id": "m", "name": "n", "server_name": "v", "input": {}},
      {"type": "mcp_tool_result", "tool_use_id": "m", "content": [{"type": "text", "text": "r"}]},
      {"type": "bash_code_execution_tool_result", "tool_use_id": "b", "content": {}},
      {"type": "text", "text": "So."}, {"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
      {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [
          {"type": "tool_reference", "tool_name": "g"}]}]},
      {"role": "assistant", "content": [{"type": "compaction", "content": "Before: q."}]}]})"),
            "user \"q\"\nassistant \"So.\"\nf\ntool \"g\"\nassistant \"Before: q.\"\n"
            "lost messages[1].content[0]\nlost messages[1].content[1]\nlost messages[1].content[2]\n"
            "lost messages[1].content[3]\nlost messages[1].content[4]\n");
  EXPECT_EQ(said_and_lost(
                R"({"input": [{"role": "user", "content": "q"}, {"type": "reasoning", "summary": []},
      {"type": "web_search_call", "id": "w"}, {"role": "assistant", "content": "So."}, {"type": "mcp_call", "id": "m"},
      {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
      {"type": "function_call_output", "call_id": "1", "output": "r"}, {"type": "compaction", "encrypted_content": "x"},
      {"type": "agent_message", "author": "a", "recipient": "b", "content": [{"type": "input_text", "text": "Go on."},
          {"type": "encrypted_content", "encrypted_content": "x"}]}]})"),
            "user \"q\"\nassistant \"So.\"\nf\ntool \"r\"\nuser \"Go on.\"\n"
            "lost input[2]\nlost input[4]\nlost input[7]\nlost input[8].content[1]\n");
}

TEST(NormaliseApis, ABillingHeaderIsNoPartOfSystem) {
  constexpr const char* kMessages = R"(, "messages": [{"role": "user", "content": "q"}]})";
  const auto of = [&](const std::string& system) {
    return said_and_lost((R"({"system": )" + system + kMessages).c_str());
  };
  EXPECT_EQ(of(R"([{"type": "text", "text": "x-anthropic-billing-header: cch=1;"}, {"type": "text", "text": "S"}])"),
            "system \"S\"\nuser \"q\"\nlost system[0].text\n");
  EXPECT_EQ(of(R"([{"type": "text", "text": "x-anthropic-billing-header: cch=1;\n\nS"}])"),
            "system \"S\"\nuser \"q\"\nlost system[0].text\n");
  EXPECT_EQ(of(R"("x-anthropic-billing-header: cch=1;\nS")"), "system \"S\"\nuser \"q\"\nlost system\n");
  EXPECT_EQ(of(R"("x-anthropic-billing-header: cch=1;")"), "user \"q\"\nlost system\n");
  EXPECT_EQ(of(R"("S\nx-anthropic-billing-header: c")"), "system \"S\\nx-anthropic-billing-header: c\"\nuser \"q\"\n");
}

TEST(NormaliseApis, MessagesOfOtherApisKnowTheirPlaces) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"system": "S", "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": [
          {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "r"}]}, {"type": )"
      R"("tool_result", "tool_use_id": "2", "content": "q"},
          {"type": "text", "text": "b"}]}, {"role": "user", "content": "c"}]})");
  ASSERT_TRUE(chat.has_value());
  const char* const paths[] = {"system", "messages[0].content", "messages[1].content[0].content[0].text",
                               "messages[1].content[1].content"};
  for (std::int32_t i = 0; i < 4; ++i) {
    const Value content = *member(items(chat->messages())[static_cast<std::size_t>(i)], "content");
    EXPECT_EQ(chat->path_of(content), paths[i]);
    std::int32_t number = -1;
    EXPECT_TRUE(find_place(inside_of(*chat), content.data, number));
    EXPECT_EQ(number, i);
  }
  ASSERT_EQ(chat->messages().list->size, 5U);  // b and c are one
  const Value both = *member(items(chat->messages())[4], "content");
  EXPECT_EQ(chat->path_of(items(both)[0]["text"]), "messages[1].content[2].text");
  EXPECT_EQ(chat->path_of(items(both)[1]["text"]), "messages[2].content");
  std::int32_t number = -1;
  EXPECT_TRUE(find_place(inside_of(*chat), items(both)[1]["text"].data, number));
  EXPECT_EQ(number, 4);
}

/// Role, content and calls of each message, as JSON.
std::string turns_of(const Result<Conversation>& chat) {
  if (!chat) return chat.error().display();
  std::string all;
  for (const Value& message : items(chat->messages())) {
    all.append(message["role"].text()).append(" ").append(json_text(message["content"]));
    if (!message["reasoning_content"].is_undefined()) all.append(" ").append(json_text(message["reasoning_content"]));
    for (const Value& call : message["tool_calls"].items())
      all.append(" ").append(call["function"]["name"].text()).append(json_text(call["function"]["arguments"]));
    all += "\n";
  }
  return all;
}

TEST(NormaliseApis, ConsecutiveMessagesOfAnthropicAreOneTurn) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"system": "S", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
          {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
          {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]},
          {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": "q"}]},
          {"role": "user", "content": "c"}, {"role": "system", "content": "T"}, {"role": "system", "content": "U"},
          {"role": "user", "content": []}, {"role": "user", "content": "d"}]})");
  EXPECT_EQ(turns_of(chat),
            "system \"S\"\nuser \"a\"\nassistant \"b\" f{}\ntool \"r\"\ntool \"q\"\nuser \"c\"\nsystem "
            "\"T\"\nsystem \"U\"\nuser \"d\"\n");
}

TEST(NormaliseApis, WhereARequestIsSentDecidesWhatItIs) {
  constexpr const char* kPlain = R"({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"},
      {"role": "assistant", "content": "c", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
      {"role": "assistant", "content": "", "thinking": "t", "tool_calls": [{"function": {"name": "g",
          "arguments": {}}}]},
      {"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}, {"role": "user", "content": "d", "name": "N"},
      {"role": "user", "content": "e"}, {"role": "user", "content": [{"type": "text", "text": "g"}]}]})";
  EXPECT_EQ(turns_of(Conversation::from_json(kPlain, {.sent_to = SentTo::ollama})),
            "user \"a\\n\\nb\"\nassistant \"c\" \"t\" f{} g{}\ntool \"1\"\ntool \"2\"\nuser \"d\"\nuser "
            "\"e\\n\\ng\"\n");
  const std::string apart = turns_of(Conversation::from_json(kPlain));
  EXPECT_EQ(apart.substr(0, 18), "user \"a\"\nuser \"b\"\n");
  EXPECT_EQ(turns_of(Conversation::from_json(kPlain, {.sent_to = SentTo::anthropic})), apart);  // calls are OpenAI's
  constexpr const char* kWords =
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]})";
  EXPECT_EQ(turns_of(Conversation::from_json(kWords, {.sent_to = SentTo::anthropic})),
            "user [{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]\n");
  const Result<Conversation> joined = Conversation::from_json(kWords, {.sent_to = SentTo::ollama});
  ASSERT_TRUE(joined.has_value());
  EXPECT_EQ(joined->notes()[0], "messages[1]: joined with the message before (join-turns)");
}

TEST(NormaliseApis, ATextBehindItsTurnsCallsIsOfThatTurn) {
  EXPECT_EQ(turns_of(Conversation::from_json(
                R"({"input": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}]},
          {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
          {"role": "assistant", "content": "a"},
          {"role": "assistant", "content": "b"}, {"type": "function_call_output", "call_id": "1", "output": "r"},
          {"role": "assistant", "content": "c"}]})")),
            "assistant \"a\" \"t\" f{}\nassistant \"b\"\ntool \"r\"\nassistant \"c\"\n");
}

TEST(NormaliseApis, SealedReasoningIsRead) {
  EXPECT_EQ(turns_of(Conversation::from_json(
                R"({"input": [{"type": "reasoning", "summary": [], "encrypted_content": "parlance1.SG0u"},
          {"type": "reasoning", "summary": [], "encrypted_content": "gAAA"},
          {"role": "assistant", "content": "a"}]})")),
            "assistant \"a\" \"Hm.\"\n");
  EXPECT_EQ(turns_of(Conversation::from_json(
                R"({"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature":
          "parlance1.SG0u"}, {"type": "thinking", "thinking": "t", "signature": "parlance1.SG0u"},
          {"type": "thinking", "thinking": "", "signature": "parlance1./w=="}, {"type": "text", "text": "a"}]}]})")),
            "assistant \"a\" \"Hm.\\n\\nt\"\n");
}

TEST(NormaliseApis, ToolsOfAnthropicAreAddedAndRemoved) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"tools": [{"name": "f", "input_schema": {}}, {"name": "g", "input_schema": {}}], "messages": [
          {"role": "user", "content": "a"}, {"role": "system", "content": [
          {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": {"name": "h",
          "input_schema": {}}}},
          {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "f"}},
          {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "g"}},
          {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "f"}},
          {"type": "tool_addition", "tool": {"type": "mcp_toolset_reference", "mcp_server_name": "s"}}]},
          {"role": "user", "content": "b"}]})");
  ASSERT_TRUE(chat.has_value()) << chat.error().display();
  std::string names, lost;
  for (const Value& tool : items(chat->tools())) names.append(tool["function"]["name"].text());
  EXPECT_EQ(names, "hf");
  EXPECT_EQ(chat->messages().list->size, 1U);
  for (const Change& change : inside_of(*chat).changes) {
    if (!change.loses.empty()) lost += place_of(inside_of(*chat), change);
  }
  EXPECT_EQ(lost, "messages[1].content[4]");
}

TEST(NormaliseApis, ToolsThatTheClientRunsAreFunctions) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"tools": [{"type": "shell"}, {"type": "apply_patch"}, {"type": "local_shell"}, {"type":
          "shell", "environment":
          {"type": "container_auto"}}, {"type": "web_search"}], "tool_choice": {"type": "shell"}, "input": [
          {"type": "shell_call", "call_id": "1", "action": {"commands": ["ls"], "timeout_ms": null}},
          {"type": "local_shell_call", "id": "l", "call_id": "2", "action": {"type": "exec",
          "command": ["ls"], "env": {}}},
          {"type": "apply_patch_call", "call_id": "3", "operation": {"type": "delete_file", "path": "a"}},
          {"type": "shell_call_output", "call_id": "1", "output": [{"stdout": "o", "stderr": "", "outcome": {"type":
          "exit", "exit_code": 0}}, {"stdout": "", "stderr": "e", "outcome": {"type": "timeout"}}]},
          {"type": "local_shell_call_output", "id": "l", "output": "p"},
          {"type": "apply_patch_call_output", "call_id": "3", "status": "failed"}]})");
  EXPECT_EQ(turns_of(chat),
            "assistant \"\" shell{\"commands\":[\"ls\"]} local_shell{\"command\":[\"ls\"]} "
            "apply_patch{\"operation\":{\"type\":\"delete_file\",\"path\":\"a\"}}\ntool [{\"type\":\"text\","
            "\"text\":\"o\"},{\"type\":\"text\",\"text\":\"e\"},{\"type\":\"text\",\"text\":"
            "\"[timeout]\"}]\ntool \"p\"\ntool \"failed\"\n");
  ASSERT_TRUE(chat.has_value());
  EXPECT_EQ(items(chat->messages())[2]["tool_call_id"].text(), "2");
  std::string names, lost;
  for (const Value& tool : items(chat->tools())) {
    names.append(tool["function"]["name"].text()).append(" ");
    EXPECT_EQ(tool["function"]["parameters"]["type"].text(), "object");
  }
  EXPECT_EQ(names, "shell apply_patch local_shell ");
  for (const Change& change : inside_of(*chat).changes) {
    if (!change.loses.empty()) lost.append(place_of(inside_of(*chat), change)).append(" ");
  }
  EXPECT_EQ(lost, "tools[3] tools[4] ");
  const Result<Conversation> editor = Conversation::from_json(
      R"({"tools": [{"type": "bash_20250124", "name": "bash"}, {"type": "computer_20250124", "name": "computer"}],
          "messages": [{"role": "user", "content": "a"}]})");
  ASSERT_TRUE(editor.has_value());
  EXPECT_EQ(editor->tools().list->size, 1U);
  EXPECT_EQ(items(editor->tools())[0]["function"]["name"].text(), "bash");
}

TEST(NormaliseApis, ToolsThatAreFoundLaterAreOfferedToo) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"tools": [{"type": "tool_search", "execution": "client", "description": "Finds", "parameters": {"type":
          "object", "properties": {"goal": {"type": "string"}}}}, {"type": "function", "name": "own"}], "input": [
          {"role": "user", "content": "a"},
          {"type": "tool_search_call", "call_id": "s", "execution": "client", "arguments": {"goal": "x"}},
          {"type": "tool_search_output", "call_id": "s", "execution": "client", "tools": [
           {"type": "function", "name": "found", "defer_loading": true}, {"type": "function", "name": "own"},
           {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "own"}]}]},
          {"type": "tool_search_call", "call_id": null, "execution": "server", "arguments": {}},
          {"type": "tool_search_output", "call_id": null, "execution": "server", "tools": [
           {"type": "function", "name": "hosted"}]},
          {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "more"},
           {"type": "function", "name": "found"}]},
          {"type": "configuration_update", "reasoning": {"effort": "low"}},
          {"type": "configuration_update", "reasoning": {"effort": "high"}, "text": {"format": {"type":
           "json_schema", "name": "n", "schema": {}}}}], "reasoning": {"effort": "medium"}})");
  EXPECT_EQ(turns_of(chat),
            "user \"a\"\nassistant \"\" tool_search{\"goal\":\"x\"}\ntool \"found\\nown\\ncrm__own\"\n");
  ASSERT_TRUE(chat.has_value());
  EXPECT_EQ(items(chat->messages())[2]["tool_call_id"].text(), "s");
  std::string names, lost;
  for (const Value& tool : items(chat->tools())) names.append(tool["function"]["name"].text()).append(" ");
  EXPECT_EQ(names, "tool_search own found crm__own hosted more ");
  const Value search = items(chat->tools())[0]["function"];
  EXPECT_EQ(search["description"].text(), "Finds");
  EXPECT_EQ(search["parameters"]["properties"]["goal"]["type"].text(), "string");
  EXPECT_EQ(chat->variables()["reasoning_effort"].text(), "high");
  EXPECT_EQ(chat->variables()["response_format"]["json_schema"]["name"].text(), "n");
  for (const Change& change : inside_of(*chat).changes) {
    if (!change.loses.empty()) lost.append(place_of(inside_of(*chat), change)).append(" ");
  }
  EXPECT_EQ(lost, "input[3] ");
  const Result<Conversation> plain = Conversation::from_json(
      R"({"tools": [{"type": "tool_search"}], "input": [{"type": "additional_tools", "role": "developer", "tools": []},
          {"type": "tool_search_output", "call_id": "s", "tools": []}]})");
  EXPECT_EQ(turns_of(plain), "tool \"no tools\"\n");
  EXPECT_FALSE(plain->tools().is_sequence());
  const Result<Conversation> no_list = Conversation::from_json(
      R"({"input": [{"role": "user", "content": "a"}, {"type": "additional_tools", "tools": 5}]})");
  ASSERT_FALSE(no_list.has_value());
  EXPECT_EQ(no_list.error().input_path(), "input[1].tools");
  const Result<Conversation> twice = Conversation::from_json(
      R"({"tools": [{"type": "shell"}, {"type": "custom", "name": "c"}], "input": [{"type": "additional_tools",
          "tools": [{"type": "shell"}, {"type": "custom", "name": "c"}, {"type": "custom", "name": "d"}]}]})");
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(twice->tools().list->size, 3U);
  const Result<Conversation> usual =
      Conversation::from_json(R"({"tools": [{"type": "tool_search", "execution": "client"}], "input": "a"})");
  ASSERT_TRUE(usual.has_value());
  EXPECT_EQ(items(usual->tools())[0]["function"]["parameters"]["required"].items()[0].text(), "query");
}

}  // namespace
}  // namespace parlance
