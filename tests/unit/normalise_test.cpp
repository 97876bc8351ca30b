// Normalisation: one row a pass and case; the variables before and after, and the notes. Rows of calls and tools are in
// normalise_calls_test.cpp.
#include "conversation/normalise.h"

#include <gtest/gtest.h>

#include "conversation/edit.h"
#include "parlance/template.h"
#include "unit/normalise_rows.h"
#include "unit/value_as_json.h"

namespace parlance {
namespace testing {
namespace {

ReadOptions only(std::string_view name) {
  ReadOptions options;
  for (const NormalisePass& pass : normalise_passes()) {
    if (pass.name == name.substr(0, name.find(':'))) {
      EXPECT_TRUE(options.passes.run(name).has_value()) << name;
    } else {
      options.passes.skip(pass.pass);
    }
  }
  return options;
}

}  // namespace

void expect_each_alone(std::span<const NormaliseRow> rows) {
  for (const NormaliseRow& row : rows) {
    const Result<Conversation> chat = Conversation::from_json(row.before, only(row.pass));
    ASSERT_TRUE(chat.has_value()) << row.before << "\n" << chat.error().display();
    EXPECT_EQ(as_json(chat->variables()), row.after) << row.pass;
    EXPECT_EQ(chat->notes(), row.notes) << row.pass;
  }
}

}  // namespace testing

namespace {

using testing::as_json;
using testing::NormaliseRow;

#define IN_MESSAGE(members) "{\"messages\": [{\"role\": \"assistant\"" members "}]}"
#define OUT_MESSAGE(members) "{\"messages\":[{\"role\":\"assistant\"" members "}]}"

const NormaliseRow kNormaliseRows[] = {
    {"chat-template-kwargs",
     R"({"messages": [], "a": 1, "chat_template_kwargs": {"a": 2, "b": true, "messages": 0}})",
     R"({"messages":[],"a":2,"b":true})",
     {"chat_template_kwargs.messages: no effect: the messages are those of the request (chat-template-kwargs)",
      "a: set by chat_template_kwargs, which overrides the request's own value (chat-template-kwargs)",
      "b: set by chat_template_kwargs (chat-template-kwargs)"}},
    {"unsaid-effort",
     R"({"messages": [], "reasoning_effort": null, "think": null, "reasoning": {"effort": null}, "thinking": true})",
     R"({"messages":[],"reasoning":{"effort":null},"thinking":true})",
     {"reasoning_effort: null: not given (unsaid-effort)", "think: null: not given (unsaid-effort)"}},
    {"unsaid-effort",
     R"({"messages": [], "reasoning_effort": 3, "reasoning": {"effort": ["low"]}})",
     R"({"messages":[],"reasoning_effort":3,"reasoning":{"effort":["low"]}})",
     {"reasoning_effort: expected a string such as \"low\"; passed through unchanged (unsaid-effort)",
      "reasoning: expected a string such as \"low\"; passed through unchanged (unsaid-effort)"}},
    {"drop-request-members",
     R"({"model": "m", "messages": [], "temperature": 1, "tool_choice": "auto"})",
     R"({"messages":[],"tool_choice":"auto"})",
     {"model: not a variable (drop-request-members)", "temperature: not a variable (drop-request-members)"}},
    {"unsaid-effort",
     R"({"messages": [], "reasoning_effort": "", "reasoning": "none", "thinking": "disabled", "think": ""})",
     R"({"messages":[],"reasoning_effort":"","reasoning":"none","thinking":"disabled","think":""})",
     {"reasoning_effort: expected a string such as \"low\"; passed through unchanged (unsaid-effort)",
      "reasoning: not where requests set the effort; passed through unchanged (unsaid-effort)",
      "think: expected a string such as \"low\"; passed through unchanged (unsaid-effort)",
      "thinking: not where requests set the effort; passed through unchanged (unsaid-effort)"}},
    {"unsaid-effort",
     R"({"messages": [], "reasoning": {"enabled": "false"}, "thinking": {"enabled": true}})",
     R"({"messages":[],"reasoning":{"enabled":"false"},"thinking":{"enabled":true}})",
     {"reasoning: expected true or false; passed through unchanged (unsaid-effort)",
      "thinking: not where requests set the effort; passed through unchanged (unsaid-effort)"}},
    {"unsaid-effort",
     R"({"messages": [], "reasoning": {"enabled": false}, "thinking": {"type": "enabled"}})",
     R"({"messages":[],"reasoning":{"enabled":false},"thinking":{"type":"enabled"}})",
     {}},
    {"reasoning-effort:none=enable_thinking:false;high=enable_thinking:true,level:\"high\"",
     R"({"messages": [], "reasoning_effort": "high"})",
     R"({"messages":[],"reasoning_effort":"high","enable_thinking":true,"level":"high"})",
     {"enable_thinking: set for the effort of reasoning (reasoning-effort)",
      "level: set for the effort of reasoning (reasoning-effort)"}},
    {"reasoning-effort:low=enable_thinking:true,level:\"high\"",
     R"({"messages": [], "reasoning_effort": "low", "enable_thinking": false})",
     R"({"messages":[],"reasoning_effort":"low","enable_thinking":false,"level":"high"})",
     {"enable_thinking: keeps the value that the request sets; the reasoning effort does not change it "
      "(reasoning-effort)",
      "level: 'high', the nearest level to 'low' that the template knows (reasoning-effort)"}},
    {"reasoning-effort:low=enable_thinking:true",
     R"({"messages": [], "reasoning_effort": "most"})",
     R"({"messages":[],"reasoning_effort":"most"})",
     {"reasoning_effort: not a known reasoning effort; passed through unchanged (reasoning-effort)"}},
    {"reasoning-effort:none=enable_thinking:false",
     R"({"messages": [], "think": "low"})",
     R"({"messages":[],"think":"low"})",
     {"think: has no effect: the template has no setting for how much the model reasons (reasoning-effort)"}},
    {"reasoning-effort:none=enable_thinking:false;low=enable_thinking:true;high=enable_thinking:true",
     R"({"messages": [], "reasoning": {"enabled": false}})",
     R"({"messages":[],"reasoning":{"enabled":false},"enable_thinking":false})",
     {"enable_thinking: set for the effort of reasoning (reasoning-effort)"}},
    {"reasoning-effort:none=enable_thinking:false;low=enable_thinking:true;high=enable_thinking:true",
     R"({"messages": [], "reasoning": {"enabled": true}})",
     R"({"messages":[],"reasoning":{"enabled":true},"enable_thinking":true})",
     {"enable_thinking: set for the effort of reasoning (reasoning-effort)"}},
    {"reasoning-effort:none=enable_thinking:false;high=enable_thinking:true,level:\"high\"",
     R"({"messages": [], "reasoning": {"enabled": false, "effort": "high"}})",
     R"({"messages":[],"reasoning":{"enabled":false,"effort":"high"},"enable_thinking":true,"level":"high"})",
     {"enable_thinking: set for the effort of reasoning (reasoning-effort)",
      "level: set for the effort of reasoning (reasoning-effort)"}},
    // Where there is nothing to be switched off, that is no loss.
    {"reasoning-effort:-",
     R"({"messages": [], "reasoning": {"enabled": false}})",
     R"({"messages":[],"reasoning":{"enabled":false}})",
     {}},
    {"reasoning-effort:-", R"({"messages": [], "think": false})", R"({"messages":[],"think":false})", {}},
    {"reasoning-effort:-",
     R"({"messages": [], "thinking": {"type": "disabled"}})",
     R"({"messages":[],"thinking":{"type":"disabled"}})",
     {}},
    {"reasoning-effort:-",
     R"({"messages": [], "reasoning": {"effort": "low"}})",
     R"({"messages":[],"reasoning":{"effort":"low"}})",
     {"reasoning.effort: has no effect: the template has no setting for how much the model reasons "
      "(reasoning-effort)"}},
    {"null-content",
     IN_MESSAGE(", \"content\": null"),
     OUT_MESSAGE(",\"content\":\"\""),
     {"messages[0].content: empty text (null-content)"}},
    {"null-content",
     IN_MESSAGE(", \"tool_calls\": []"),
     OUT_MESSAGE(",\"tool_calls\":[],\"content\":\"\""),
     {"messages[0].content: empty text (null-content)"}},
    {"null-content", IN_MESSAGE(""), OUT_MESSAGE(""), {}},
    {"null-content",
     IN_MESSAGE(R"(, "content": [{"type": "text", "text": "a"}, {"type": "text", "text": null}, {"text": null}])"),
     OUT_MESSAGE(R"(,"content":[{"type":"text","text":"a"},{"type":"text","text":""},{"text":""}])"),
     {"messages[0].content[1].text: empty text (null-content)",
      "messages[0].content[2].text: empty text (null-content)"}},
    {"null-content",
     IN_MESSAGE(R"(, "content": [null, "a", {"type": "image", "image": "u", "text": null}, {"type": "text"}])"),
     OUT_MESSAGE(R"(,"content":[null,"a",{"type":"image","image":"u"},{"type":"text"}])"),
     {"messages[0].content[2].text: null: left out (null-content)"}},
    {"text-only",
     IN_MESSAGE(R"(, "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "u"}}])"),
     OUT_MESSAGE(",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]"),
     {"messages[0].content[1]: left out, since it is not text (text-only)"}},
    {"text-only",
     IN_MESSAGE(R"(, "content": [{"type": "input_audio", "input_audio": {"data": "u"}}])"),
     OUT_MESSAGE(",\"content\":\"[a sound, which this model cannot hear]\""),
     {"messages[0].content[0]: left out, since it is not text (text-only)"}},
    {"text-only",
     IN_MESSAGE(R"(, "content": "", "images": ["QUJD", "QUJE"])"),
     OUT_MESSAGE(",\"content\":\"[an image, which this model cannot see]\\n[an image, which this model cannot see]\""),
     {"messages[0].images: left out, since it is not text (text-only)"}},
    {"no-place:tool.image_url,tool.file",
     R"({"messages": [{"role": "tool", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": )"
     R"({"url": "u"}}, {"type": "file", "file": {}}]}]})",
     R"({"messages":[{"role":"tool","content":[{"type":"text","text":"a"},{"type":"text","text":"[an )"
     R"(image, which this model cannot see]"},{"type":"text","text":"[a file, which this model cannot read]"}]}]})",
     {"messages[0].content[1]: the template has no place for it: a line says so (no-place)",
      "messages[0].content[2]: the template has no place for it: a line says so (no-place)"}},
    {"no-place:tool.images",
     R"({"messages": [{"role": "tool", "content": "a", "images": ["QUJD"]}]})",
     R"({"messages":[{"role":"tool","content":"a\n[an image, which this model cannot see]"}]})",
     {"messages[0].images: the template has no place for it: a line says so (no-place)"}},
    {"join-turns:user,assistant",
     R"({"messages": [{"role": "system", "content": "s"}, {"role": "system", "content": "t"},
         {"role": "user", "content": "a"}, {"role": "user", "content": "b", "images": ["QUJD"]},
         {"role": "assistant", "content": null, "thinking": "x", "tool_calls": [{}]},
         {"role": "assistant", "content": "c", "thinking": "y", "tool_calls": [{"id": "1"}]}]})",
     R"({"messages":[{"role":"system","content":"s"},{"role":"system","content":"t"},{"role":"user","content":)"
     R"("a\n\nb","images":["QUJD"]},{"role":"assistant","content":"c","thinking":"x\n\ny","tool_calls":[{},)"
     R"({"id":"1"}]}]})",
     {"messages[3]: joined with the message before (join-turns)",
      "messages[5]: joined with the message before (join-turns)"}},
    {"text-only",
     IN_MESSAGE(R"(, "content": [{"type": "thinking", "thinking": "t"}])"),
     OUT_MESSAGE(",\"content\":[{\"type\":\"thinking\",\"thinking\":\"t\"}]"),
     {}},
    {"text-only",
     IN_MESSAGE(R"(, "content": "a", "images": ["QUJD"])"),
     OUT_MESSAGE(",\"content\":\"a\""),
     {"messages[0].images: left out, since it is not text (text-only)"}},
    {"image-parts:assistant.images=image_url",
     IN_MESSAGE(R"(, "content": "a", "images": ["QUJD", "QUJE"])"),
     OUT_MESSAGE(",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"QUJD\"}},"
                 "{\"type\":\"image_url\",\"image_url\":{\"url\":\"QUJE\"}},{\"type\":\"text\",\"text\":\"a\"}]"),
     {"messages[0].images: now content parts (image-parts)"}},
    {"image-parts:assistant.images=image",
     IN_MESSAGE(R"(, "content": [{"type": "text", "text": "a"}], "images": ["QUJD"])"),
     OUT_MESSAGE(",\"content\":[{\"type\":\"image\",\"image\":\"QUJD\"},{\"type\":\"text\",\"text\":\"a\"}]"),
     {"messages[0].images: now content parts (image-parts)"}},
    {"image-parts:assistant.images=image",
     IN_MESSAGE(R"(, "content": "", "images": ["QUJD"])"),
     OUT_MESSAGE(",\"content\":[{\"type\":\"image\",\"image\":\"QUJD\"}]"),
     {"messages[0].images: now content parts (image-parts)"}},
    {"image-parts:user.images=image",
     IN_MESSAGE(R"(, "content": "a", "images": ["QUJD"])"),
     OUT_MESSAGE(",\"content\":\"a\",\"images\":[\"QUJD\"]"),
     {}},
    {"image-parts:assistant.images=image", IN_MESSAGE(R"(, "images": [])"), OUT_MESSAGE(",\"images\":[]"), {}},
    {"part-types:assistant.image_url=image",
     IN_MESSAGE(
         R"(, "content": [{"type": "image_url", "image_url": {"url": "u", "detail": "low"}, "cache_control": {}}])"),
     OUT_MESSAGE(",\"content\":[{\"cache_control\":{},\"type\":\"image\",\"image\":\"u\"}]"),
     {"messages[0].content[0]: under the name that the template knows (part-types)"}},
    {"part-types:user.image=image_url,assistant.image=image_url",
     IN_MESSAGE(
         R"(, "content": [{"type": "image", "image": "u"}, {"type": "image"}, {"type": "audio", "audio": "a"}])"),
     OUT_MESSAGE(",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\"}},{\"type\":\"image_url\"},{"
                 "\"type\":\"audio\",\"audio\":\"a\"}]"),
     {"messages[0].content[0]: under the name that the template knows (part-types)",
      "messages[0].content[1]: under the name that the template knows (part-types)"}},
    {"part-types:user.image_url=image",
     IN_MESSAGE(R"(, "content": [{"type": "image_url", "image_url": {"url": "u"}}])"),
     OUT_MESSAGE(",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\"}}]"),
     {}},
    {"no-place:user.image_url,assistant.video",
     IN_MESSAGE(R"(, "content": [{"type": "image_url", "image_url": {"url": "u"}}])"),
     OUT_MESSAGE(",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\"}}]"),
     {}},
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
    {"reasoning-names",
     IN_MESSAGE(R"(, "reasoning": "", "thinking": "t")"),
     OUT_MESSAGE(",\"reasoning\":\"\",\"thinking\":\"t\",\"reasoning_content\":\"t\""),
     {"messages[0].reasoning_content: taken from reasoning (reasoning-names)"}},
    {"reasoning-names",
     IN_MESSAGE(R"(, "reasoning_content": null, "reasoning": "r")"),
     OUT_MESSAGE(",\"reasoning_content\":\"r\",\"reasoning\":\"r\""),
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
    {"ollama-think",
     R"({"messages": [], "think": "none"})",
     R"({"messages":[],"think":"none","enable_thinking":false})",
     {"enable_thinking: taken from think (ollama-think)"}},
    {"developer-role",
     R"({"messages": [{"role": "developer"}, {"role": "user"}]})",
     R"({"messages":[{"role":"system"},{"role":"user"}]})",
     {"messages[0].role: was developer (developer-role)"}},
    {"content-parts:user,tool",
     R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}, {"role": "system", "content": )"
     R"([]}]})",
     R"({"messages":[{"role":"user","content":"a"},{"role":"system","content":[]}]})",
     {"messages[0].content: joined from text parts (content-parts)"}},
    {"one-part",
     R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]},
         {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]})",
     R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text","text":"a"},)"
     R"({"type":"text","text":"b"}]}]})",
     {"messages[0].content: was a list of one text part (one-part)"}},
    {"text-parts:user",
     R"({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": []}, {"role": "tool", "content": )"
     R"("b"}]})",
     R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":[]},)"
     R"({"role":"tool","content":"b"}]})",
     {"messages[0].content: now a list of one text part (text-parts)"}},
    {"reasoning-key:thought",
     IN_MESSAGE(R"(, "thinking": "t", "reasoning_content": "t", "content": "c")"),
     OUT_MESSAGE(",\"content\":\"c\",\"thought\":\"t\""),
     {"messages[0].thought: the reasoning, under the name that the template reads (reasoning-key)"}},
    {"reasoning-key:thought",
     IN_MESSAGE(R"(, "thinking": "t", "reasoning": "other")"),
     OUT_MESSAGE(",\"thinking\":\"t\",\"reasoning\":\"other\""),
     {}},
    {"join-reasoning:thinking",
     IN_MESSAGE(R"(, "content": "c", "thinking": "t", "tool_calls": [{}])"),
     OUT_MESSAGE(",\"content\":\"\",\"thinking\":\"t\\n\\nc\",\"tool_calls\":[{}]"),
     {"messages[0].content: joined to the reasoning (join-reasoning)"}},
    {"join-reasoning:thinking",
     IN_MESSAGE(R"(, "content": "c", "thinking": "t")"),
     OUT_MESSAGE(",\"content\":\"c\",\"thinking\":\"t\""),
     {}},
    {"content-parts",
     R"({"messages": [{"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "text", "text": )"
     R"("b"}, {"text": "c"}]}]})",
     R"({"messages":[{"role":"user","content":"a\nb\nc"}]})",
     {"messages[0].content: joined from text parts (content-parts)"}},
    {"content-parts",
     R"({"messages": [{"role": "user", "content": [{"type": "snippet", "text": "a"}, {"type": "snippet", "text": )"
     R"("b", "source": "s"}]}]})",
     R"({"messages":[{"role":"user","content":"a\nb"}]})",
     {"messages[0].content[1]: only its text is given (content-parts)",
      "messages[0].content: joined from text parts (content-parts)"}},
    {"text-only",
     R"({"messages": [{"role": "user", "content": [{"type": "document_url", "document_url": "u"}, {"type": )"
     R"("input_text", "text": "a"}, {"type": "resource", "resource": {"text": "r"}}]}]})",
     R"({"messages":[{"role":"user","content":[{"type":"input_text","text":"a"}]}]})",
     {"messages[0].content[0]: left out, since it is not text (text-only)",
      "messages[0].content[2]: left out, since it is not text (text-only)"}},
    // A turn that is over: what templates leave out of it by design is its reasoning, and no content.
    {"join-reasoning:thinking",
     R"({"messages": [{"role": "assistant", "content": "c", "thinking": "t", "tool_calls": [{}]}, {"role": "user", )"
     R"("content": "u"}]})",
     R"({"messages":[{"role":"assistant","content":"t\n\nc","thinking":"","tool_calls":[{}]},{"role":"user",)"
     R"("content":"u"}]})",
     {"messages[0].content: the reasoning is its beginning (join-reasoning)"}},
    {"reasoning-part:thinking",
     IN_MESSAGE(R"(, "content": "c", "reasoning": "t")"),
     OUT_MESSAGE(R"(,"content":[{"type":"thinking","thinking":"t","text":"t"},{"type":"text","text":"c"}])"),
     {"messages[0].content: the reasoning is its first part (reasoning-part)"}},
    {"join-systems",
     R"({"messages": [{"role": "system", "content": "a"}, {"role": "developer", "content": [{"type": "text", "text": )"
     R"("b"}]},
         {"role": "user", "content": "c"}, {"role": "system", "content": "d"}]})",
     R"({"messages":[{"role":"system","content":"a\n\nb"},{"role":"user","content":"c"},{"role":"system",)"
     R"("content":"d"}]})",
     {"messages[1]: joined with the message before (join-systems)"}},
    {"gather-systems",
     R"({"messages": [{"role": "user", "content": "c"}, {"role": "system", "content": "a"}, {"role": "system", )"
     R"("content": null}, {"role": "user"},
         {"role": "system", "content": "b"}]})",
     R"({"messages":[{"role":"user","content":"c"},{"role":"system","content":"a\n\nb"},{"role":"user"}]})",
     {"messages[2]: joined with the first of the system's (gather-systems)",
      "messages[4]: joined with the first of the system's (gather-systems)"}},
    {"late-system",
     R"({"messages": [{"role": "system"}, {"role": "developer"}, {"role": "user"}, {"role": "system"}, {"role": )"
     R"("developer"}]})",
     R"({"messages":[{"role":"system"},{"role":"developer"},{"role":"user"},{"role":"user"},{"role":"user"}]})",
     {"messages[3].role: was the system's (late-system)", "messages[4].role: was the system's (late-system)"}},
    {"late-system:developer",
     R"({"messages": [{"role": "user"}, {"role": "system"}, {"role": "developer"}]})",
     R"({"messages":[{"role":"user"},{"role":"system"},{"role":"user"}]})",
     {"messages[2].role: was the system's (late-system)"}},
    {"first-system",
     R"({"messages": [{"role": "system"}, {"role": "user"}, {"role": "system"}]})",
     R"({"messages":[{"role":"user"},{"role":"user"},{"role":"system"}]})",
     {"messages[0].role: was the system's (first-system)"}},
    {"join-users",
     R"({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "image"}, {"type": )"
     R"("text", "text": "b"}]},
         {"role": "assistant"}, {"role": "user", "name": "n"}, {"role": "user", "content": ""}]})",
     R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"\n\n"},)"
     R"({"type":"image"},{"type":"text","text":"b"}]},)"
     R"({"role":"assistant"},{"role":"user","name":"n"},{"role":"user","content":""}]})",
     {"messages[1]: joined with the message before (join-users)"}},
    {"null-members",
     R"({"messages": [{"role": "user", "name": null, "content": [null, {"x": null}], "refusal": null}, {"role": )"
     R"(null}, {"role": "user"}], "tools": null})",
     R"({"messages":[{"role":"user","content":[null,{"x":null}]},{},{"role":"user"}],"tools":null})",
     {"messages[0].name: null: left out (null-members)", "messages[0].refusal: null: left out (null-members)",
      "messages[1].role: null: left out (null-members)"}},
    {"reasoning-aliases",
     R"({"messages": [{"role": "a", "reasoning": "r"}, {"thinking": "t", "reasoning": "r"}, {"reasoning_content": )"
     R"(null, "x": 1, "thinking": ""},)"
     R"( {"reasoning_content": [1], "thinking": null}, {"reasoning": null}]})",
     R"({"messages":[{"thinking":"r","role":"a","reasoning":"r","reasoning_content":"r"},)"
     R"({"thinking":"t","reasoning":"r","reasoning_content":"t"},{"thinking":"","reasoning_content":"","x":1},)"
     R"({"thinking":null,"reasoning_content":[1]},{"reasoning":null}]})",
     {"messages[0]: the reasoning, under both names (reasoning-aliases)",
      "messages[1]: the reasoning, under both names (reasoning-aliases)",
      "messages[2]: the reasoning, under both names (reasoning-aliases)",
      "messages[3]: the reasoning, under both names (reasoning-aliases)"}},
    {"anthropic-request",
     R"({"model": "m", "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}], "messages": [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "source": {"type": "base64", )"
     R"("media_type": "image/png", "data": "QQ=="}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": )"
     R"("tool_use", "id": "1", "name": "f", "input": {"x": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r", "is_error": true}, )"
     R"({"type": "text", "text": "b"}]}],
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}, {"type": )"
     R"("web_search_20250305", "name": "web_search"}],
        "tool_choice": {"type": "any", "disable_parallel_tool_use": true}})",
     R"({"messages":[{"role":"system","content":"S"},)"
     R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url",)"
     R"("image_url":{"url":"data:image/png;base64,QQ=="}}]},)"
     R"({"role":"assistant","content":"","reasoning_content":"t","tool_calls":[{"id":"1","type":"function",)"
     R"("function":{"name":"f","arguments":{"x":1}}}]},)"
     R"({"role":"tool","tool_call_id":"1","content":"r","is_error":true},{"role":"user","content":"b"}],)"
     R"("tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],)"
     R"("tool_choice":"required","parallel_tool_calls":false})",
     {"messages: made of a request of Anthropic Messages (anthropic-request)",
      "system[0].cache_control: says nothing to a model: left out (anthropic-request)",
      "messages[1].content[0].signature: says nothing to a model: left out (anthropic-request)",
      "tools[1]: a tool that the API itself runs, and a template does not know: left out (anthropic-request)",
      "model: not a variable (anthropic-request)"}},
    // `system` alone does not make an OpenAI's chat one of Anthropic's.
    {"anthropic-request",
     R"({"system": "S", "messages": [{"role": "tool", "tool_call_id": "1", "content": "r"}]})",
     R"({"system":"S","messages":[{"role":"tool","tool_call_id":"1","content":"r"}]})",
     {"system: a variable, since `messages[0].role` is of OpenAI's chat (anthropic-request)"}},
    {"anthropic-request",
     R"({"system": "S", "messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]})",
     R"({"system":"S","messages":[],"tools":[{"type":"function","function":{"name":"f"}}]})",
     {"system: a variable, since `tools[0].function` is of OpenAI's chat (anthropic-request)"}},
    {"anthropic-request",
     R"({"system": "S", "messages": [{"role": "assistant", "content": null, "tool_calls": [{"id": "1"}]}]})",
     R"({"system":"S","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]}]})",
     {"system: a variable, since `messages[0].tool_calls` is of OpenAI's chat (anthropic-request)"}},
    {"anthropic-request",
     R"({"system": "S", "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": )"
     R"("u"}}]}]})",
     R"({"system":"S","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}]})",
     {"system: a variable, since `messages[0].content[0]` is of OpenAI's chat (anthropic-request)"}},
    {"responses-request",
     R"({"instructions": "S", "input": [{"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": )"
     R"("input_image", "image_url": "u"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}, {"type": "summary_text", "text": )"
     R"("u"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "2", "name": "g", "input": "i"},
        {"type": "function_call_output", "call_id": "1", "output": "r"}, {"type": "message", "role": "assistant", )"
     R"("content": "c"},
        {"type": "message", "role": "assistant", "content": "d"}],
        "tools": [{"type": "function", "name": "f", "parameters": null, "strict": true}, {"type": "custom", "name": )"
     R"("g"}],
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}}, "tool_choice": {"type": "function", )"
     R"("name": "f"}})",
     R"({"messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"a"},)"
     R"({"type":"image_url","image_url":{"url":"u"}}]},)"
     R"({"role":"assistant","content":"b","reasoning_content":"t\n\nu","tool_calls":[{"id":"1","type":"function",)"
     R"("function":{"name":"f","arguments":"{}"}},)"
     R"({"id":"2","type":"custom","custom":{"name":"g","input":"i"}}]},{"role":"tool","tool_call_id":"1",)"
     R"("content":"r"},)"
     R"({"role":"assistant","content":"c"},{"role":"assistant","content":"d"}],)"
     R"("tools":[{"type":"function","function":{"name":"f","strict":true}},{"type":"custom","name":"g"}],)"
     R"("tool_choice":{"type":"function","function":{"name":"f"}},)"
     R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}})",
     {"messages: made of a request of OpenAI Responses (responses-request)"}},
    {"gemini-request",
     R"({"system_instruction": {"parts": [{"text": "S"}]}, "contents": [{"role": "user", "parts": [{"text": "a"}, )"
     R"({"inline_data": {"mime_type": "audio/wav", "data": "QQ=="}}]},
        {"role": "model", "parts": [{"text": "t", "thought": true}, {"functionCall": {"name": "f", "args": {"x": )"
     R"(1}}, "thoughtSignature": "s"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "r"}}}]},
        {"role": "function", "parts": [{"function_response": {"name": "f", "response": {"n": 2}}}, {"text": "b"}]}],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "properties": {"type": )"
     R"({"type": "STRING"}}}}]}, {"googleSearch": {}}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {"temperature": 1, "responseMimeType": "application/json", "thinkingConfig": )"
     R"({"thinkingBudget": 0}}})",
     R"({"messages":[{"role":"system","content":"S"},)"
     R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"input_audio","input_audio":{"data":"QQ==",)"
     R"("format":"wav"}}]},)"
     R"({"role":"assistant","content":"","reasoning_content":"t","tool_calls":[{"type":"function",)"
     R"("function":{"name":"f","arguments":{"x":1}}}]},)"
     R"({"role":"tool","name":"f","content":"r"},{"role":"tool","name":"f","content":"{\"n\": )"
     R"(2}"},{"role":"user","content":"b"}],)"
     R"("tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object",)"
     R"("properties":{"type":{"type":"string"}}}}}],)"
     R"("tool_choice":{"type":"function","function":{"name":"f"}},"response_format":{"type":"json_object"},)"
     R"("reasoning_effort":"none"})",
     {"messages: made of a request of Gemini (gemini-request)",
      "contents[1].parts[1].thoughtSignature: says nothing to a model: left out (gemini-request)",
      "tools[1].googleSearch: a tool that the API itself runs, and a template does not know: left out (gemini-request)",
      "generationConfig.temperature: not a variable (gemini-request)"}},
    {"sharegpt-request",
     R"({"conversations": [{"from": "system", "value": "S"}, {"from": "human", "value": "a"},
        {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"x\": 1}}"}, {"from": "observation", )"
     R"("value": "r"}, {"from": "gpt", "value": "b"}],
        "tools": "[{\"name\": \"f\"}]", "source": "s"})",
     R"({"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},)"
     R"({"role":"assistant","content":"","tool_calls":[{"type":"function","function":{"name":"f",)"
     R"("arguments":{"x":1}}}]},)"
     R"({"role":"tool","content":"r"},{"role":"assistant","content":"b"}],"source":"s","tools":[{"name":"f"}]})",
     {"messages: made of a line of ShareGPT (sharegpt-request)"}},
    {"sharegpt-request",
     R"({"messages": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b", "weight": 0},)"
     R"({"from": "gpt", "value": "c", "loss": false}, {"from": "gpt", "value": "d", "train": false}], "tools": []})",
     R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","weight":0},)"
     R"({"role":"assistant","content":"c","weight":false},{"role":"assistant","content":"d","weight":false}]})",
     {"messages: made of a line of ShareGPT (sharegpt-request)"}},
    {"sharegpt-request",  // a table has null where a row had no member
     R"({"messages": [{"from": "human", "value": "a", "weight": null, "train": null},)"
     R"({"from": "gpt", "value": "b", "weight": null, "loss": null, "train": false},)"
     R"({"from": "gpt", "value": "c", "weight": 1, "train": true, "loss": false},)"
     R"({"from": "gpt", "value": "d", "weight": null, "train": true}]})",
     R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","weight":false},)"
     R"({"role":"assistant","content":"c","weight":false},{"role":"assistant","content":"d","weight":true}]})",
     {"messages: made of a line of ShareGPT (sharegpt-request)"}},
    {"defaults",
     R"({"messages": [], "documents": [1]})",
     R"({"messages":[],"documents":[1],"tools":null})",
     {"tools: none (defaults)"}},
};

#undef IN_MESSAGE
#undef OUT_MESSAGE

TEST(AsTransformers, AnEmptyConversationIsOneOfABatchOnly) {
  Conversation chat;
  const char* const request = R"({"messages": []})";
  EXPECT_FALSE(chat.read(request, {.as_transformers = true}));
  EXPECT_TRUE(chat.read(request, {.as_transformers = true, .of_batch = true}));
}

TEST(Normalise, EachPassAlone) { testing::expect_each_alone(kNormaliseRows); }

TEST(Normalise, APartWithoutPlaceIsAnError) {
  const char* const request = R"({"messages": [{"role": "user", "content": "a"},
    {"role": "user", "content": [{"type": "text", "text": "b"}, {"type": "image_url", "image_url": {"url": "u"}}]}]})";
  const ReadOptions refusing{.passes = *Passes::of({"no-place:user.image_url"})};
  const Result<Conversation> refused = Conversation::from_json(request, refusing);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::conversation);
  EXPECT_EQ(refused.error().input_path(), "messages[1].content[1]");
  EXPECT_EQ(refused.error().message(),
            "the template has no place for a part of the type image_url in a message of the role user");
  const Result<Conversation> image =
      Conversation::from_json(R"({"messages": [{"role": "user", "content": "a", "images": ["QUJD"]}]})",
                              {.passes = *Passes::of({"no-place:user.images"})});
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().input_path(), "messages[0].images[0]");
  EXPECT_EQ(image.error().message(), "the template has no place for an image in a message of the role user");
  const ReadOptions leaving_out{.passes = *Passes::of({"no-place:user.image_url", "text-only"})};
  EXPECT_TRUE(Conversation::from_json(request, leaving_out).has_value());
}

TEST(Normalise, EveryPassHasARow) {
  std::vector<NormaliseRow> rows(std::begin(kNormaliseRows), std::end(kNormaliseRows));
  const std::span<const NormaliseRow> calls = testing::normalise_rows_of_calls();
  rows.insert(rows.end(), calls.begin(), calls.end());
  for (const NormalisePass& pass : normalise_passes()) {
    const bool found = std::any_of(rows.begin(), rows.end(), [&](const NormaliseRow& row) {
      const std::string_view name = row.pass;
      return name.substr(0, name.find(':')) == pass.name;
    });
    EXPECT_TRUE(found) << pass.name;
  }
}

TEST(Normalise, SharesWhatItDoesNotChange) {
  const Result<Conversation> chat =
      Conversation::from_json(R"({"messages": [{"role": "user", "content": "x"}, {"role": "tool", "content": null}]})");
  ASSERT_TRUE(chat.has_value());
  const Value document = inside_of(*chat).document.root();
  const Value before = *member(document, "messages");
  const Value after = chat->messages();
  EXPECT_NE(before.list, after.list);
  EXPECT_EQ(before.list->items[0].dict, after.list->items[0].dict);
  EXPECT_EQ(before.list->origin, after.list->origin);
  EXPECT_EQ(before.list->items[1].dict->origin, after.list->items[1].dict->origin);
  EXPECT_EQ(member(before.list->items[1], "role")->data, member(after.list->items[1], "role")->data);
}

TEST(Normalise, FlatCallsWithTextArguments) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{\"a\": []}"}]}]})");
  ASSERT_TRUE(chat.has_value());
  EXPECT_EQ(as_json(chat->messages()),
            R"([{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":{"a":[]}}}],)"
            R"("content":""}])");
}

}  // namespace
}  // namespace parlance
