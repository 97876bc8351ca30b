// What the bytes of an assistant's turns are. The law over the corpus is bindings/python/tests/kinds_law.py.
#include "parlance/reply_kinds.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "parlance/request.h"

namespace parlance {
namespace {

using KindParts = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kThinkingTemplate =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}"
    "{% for c in m.tool_calls %}<tool_call>\n{\"name\": \"{{ c.function.name }}\", \"arguments\": "
    "{{ c.function.arguments | tojson }}}\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

KindParts parts_of(std::string_view messages, std::string_view chat_template = kThinkingTemplate) {
  const RequestReader reader(*Template::compile(chat_template));
  const auto request = reader.read("{\"messages\": " + std::string(messages) + "}");
  EXPECT_TRUE(request) << request.error().display();
  const auto prompt = reader.render(*request, {.want_assistant = true});
  EXPECT_TRUE(prompt) << prompt.error().display();
  const auto kinds = reader.reply_kinds(request->conversation, *prompt);
  EXPECT_TRUE(kinds) << kinds.error().display();
  KindParts parts;
  for (const KindRange& range : *kinds)
    parts.emplace_back(name_of(range.kind), prompt->text().substr(range.begin, range.end - range.begin));
  return parts;
}

TEST(ReplyKinds, MarkupIsOfWhatItEncloses) {
  const auto parts = parts_of(R"([{"role": "user", "content": "q"},
    {"role": "assistant", "content": "So.", "reasoning_content": "hm", "tool_calls": [{"type": "function", "function":
     {"name": "f", "arguments": {"a": 1}}}]}])");
  const KindParts expected = {{"reasoning", "<think>\nhm\n</think>\n\n"},
                              {"content", "So."},
                              {"calls", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>"},
                              {"stop", "<|im_end|>"},
                              {"marker", "\n"}};
  EXPECT_EQ(parts, expected);
}

TEST(ReplyKinds, AMessageThatQuotesTheEndOfATurnGoesOn) {
  const auto parts = parts_of(R"([{"role": "user", "content": "q"},
    {"role": "assistant", "content": "Write <|im_end|> there."}])");
  const KindParts expected = {{"content", "Write <|im_end|> there."}, {"stop", "<|im_end|>"}, {"marker", "\n"}};
  EXPECT_EQ(parts, expected);
}

// The marker is one of several pieces of the template: of literals, and of a variable.
TEST(ReplyKinds, TheEndOfATurnMayBeWrittenInParts) {
  for (const std::string_view end : {"{{ '<|close|>' }}{{ 'message' }}{{ '<|sep|>' }}", "{{ close('message') }}",
                                     "{% for x in ['<|close|>', 'message', '<|sep|>'] %}{{ x }}{% endfor %}"}) {
    const std::string chat_template =
        "{% macro close(tag) %}{{ '<|close|>' + tag + '<|sep|>' }}{% endmacro %}"
        "{% for m in messages %}<|open|>{{ m.role }}<|sep|>{{ m.content }}" +
        std::string(end) + "<|over|>{% endfor %}{% if add_generation_prompt %}<|open|>assistant<|sep|>{% endif %}";
    const auto parts = parts_of(R"([{"role": "user", "content": "q"},
      {"role": "assistant", "content": "Not <|close|>message<|sep|> this."}, {"role": "user", "content": "q"}])",
                                chat_template);
    const KindParts expected = {
        {"content", "Not <|close|>message<|sep|> this."}, {"stop", "<|close|>message<|sep|>"}, {"marker", "<|over|>"}};
    EXPECT_EQ(parts, expected) << end;
  }
}

TEST(ReplyKinds, WhatTheTemplateWritesBehindTheEndIsMarkup) {
  constexpr std::string_view kTagged =
      "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}<bot>{{ m.content }}<end><over>"
      "{% if m.more is defined %}<bot>{{ m.more }}<end><over>{% endif %}{% endgeneration %}"
      "{% else %}<user>{{ m.content }}<over>{% endif %}{% endfor %}{% if add_generation_prompt %}<bot>{% endif %}";
  EXPECT_EQ(parts_of(R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}])", kTagged),
            (KindParts{{"marker", "<bot>"}, {"content", "a"}, {"stop", "<end>"}, {"marker", "<over>"}}));
  // A turn may hold a further reply, also an empty one.
  EXPECT_EQ(
      parts_of(R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a", "more": "b"}])", kTagged),
      (KindParts{{"marker", "<bot>"},
                 {"content", "a"},
                 {"stop", "<end>"},
                 {"marker", "<over><bot>"},
                 {"content", "b"},
                 {"stop", "<end>"},
                 {"marker", "<over>"}}));
  EXPECT_EQ(
      parts_of(R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a", "more": ""}])", kTagged),
      (KindParts{{"marker", "<bot>"},
                 {"content", "a"},
                 {"stop", "<end>"},
                 {"marker", "<over><bot>"},
                 {"stop", "<end>"},
                 {"marker", "<over>"}}));
}

// What closes each part of a turn, reasoning too, ends the turn where nothing follows it.
TEST(ReplyKinds, WhatClosesTheContentOfATurnIsItsStop) {
  constexpr std::string_view kParts =
      "{% for m in messages %}<|begin|>{{ m.role }}{% if m.reasoning_content %}<|think|>{{ m.reasoning_content "
      "}}<|end|>"
      "<|begin|>assistant{% endif %}<|content|>{{ m.content }}<|end|>{% endfor %}"
      "{% if add_generation_prompt %}<|begin|>assistant{% endif %}";
  const auto parts = parts_of(R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
    {"role": "user", "content": "r"}, {"role": "assistant", "content": "b", "reasoning_content": "hm"}])",
                              kParts);
  const KindParts expected = {{"marker", "<|content|>"},  {"content", "a"},
                              {"stop", "<|end|>"},        {"marker", "<|think|>"},
                              {"reasoning", "hm<|end|>"}, {"marker", "<|begin|>assistant<|content|>"},
                              {"content", "b"},           {"stop", "<|end|>"}};
  EXPECT_EQ(parts, expected);
}

TEST(ReplyKinds, EachTurnIsReadByItself) {
  const auto parts = parts_of(R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
    {"role": "user", "content": "q"}, {"role": "assistant", "content": "", "reasoning_content": "hm"}])");
  const KindParts expected = {{"content", "a"},       {"stop", "<|im_end|>"},
                              {"marker", "\n"},       {"reasoning", "<think>\nhm\n</think>\n\n"},
                              {"stop", "<|im_end|>"}, {"marker", "\n"}};
  EXPECT_EQ(parts, expected);
}

TEST(ReplyKinds, AHeaderInsideOfARangeIsMarkup) {
  const auto parts = parts_of(R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}])",
                              "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}");
  EXPECT_EQ(parts, (KindParts{{"marker", "assistant: "}, {"content", "a\n"}}));
}

// A turn that is nothing but ends of turns is not read once for each of them to its end.
TEST(ReplyKinds, ManyEndsInOneTurnTakeLinearTime) {
  std::string content;
  for (int i = 0; i < 200'000; ++i) content += "</end>";
  const auto parts = parts_of(
      "[{\"role\": \"user\", \"content\": \"q\"}, {\"role\": \"assistant\", \"content\": \"" + content + "\"}]",
      "{% for m in messages %}<{{ m.role }}>{{ m.content }}</end>{% endfor %}"
      "{% if add_generation_prompt %}<assistant>{% endif %}");
  std::size_t size = 0;
  for (const auto& part : parts) size += part.second.size();
  EXPECT_EQ(size, content.size() + 6);
}

// Nor where the template writes them.
TEST(ReplyKinds, ManyEndsOfTheTemplateTakeLinearTime) {
  const auto parts = parts_of(R"([{"role": "user", "content": "q"}, {"role": "assistant", "content": "q"}])",
                              "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% for i in "
                              "range(100000) %}</end>{% endfor %}{% endif %}{{ m.content }}</end>{% endfor %}"
                              "{% if add_generation_prompt %}<assistant>{% endif %}");
  std::size_t size = 0;
  for (const auto& part : parts) size += part.second.size();
  EXPECT_EQ(size, 600'007U);
}

TEST(ReplyKinds, NamesAreKnownBothWays) {
  for (const std::string_view name : reply_kind_names()) EXPECT_EQ(name_of(*reply_kind_named(name)), name);
  EXPECT_FALSE(reply_kind_named("thoughts"));
}

}  // namespace
}  // namespace parlance
