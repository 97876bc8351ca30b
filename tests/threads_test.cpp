// Many threads, one template, one conversation: every rendering must be the same. Meant for the preset tsan too.
//
// Begin reading at TEST(Threads, ...).
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "parlance/parlance.h"

namespace parlance {
namespace {

constexpr int kThreads = 8;
constexpr int kRenders = 60;

constexpr std::string_view kTemplate = R"({%- macro call(c) %}<call>{{ c.function | tojson }}</call>{% endmacro -%}
{%- set ns = namespace(last=-1) -%}
{%- for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor -%}
{%- for m in messages -%}
<|{{ m.role | upper }}|>
{%- if m.content is string %}{{ m.content.strip().split('\n') | join(' / ') }}{% else %}{{ m.content }}{% endif -%}
{%- for c in m.tool_calls or [] %}{{ call(c) }}{% endfor -%}
{%- if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}{% endif -%}
<|end|>
{%- endfor -%}
{{ ns.last }} {{ tools | tojson(indent=2) }} {{ strftime_now('%d %b %Y') }} {{ count / 3 }} {{ '%05.1f' % count }}
{%- if add_generation_prompt %}<|assistant|>{% endif -%})";

std::string make_request() {
  std::string messages;
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    messages += R"({"role": "user", "content": "  question )" + number + R"(\n\u00e9 \ud83d\ude00 "},)";
    messages += R"({"role": "assistant", "content": "answer )" + number +
                R"(", "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": )" + number + R"(}"}}]},)";
  }
  messages += R"({"role": "user", "content": "last"})";
  return R"({"count": 7, "tools": [{"name": "f", "parameters": {"type": "object"}}], "messages": [)" + messages + "]}";
}

/// Text, spans with their paths, and masks of one rendering in one string.
std::string describe(const Conversation& chat, const Rendering& rendering) {
  std::string all(rendering.text());
  for (const Span& span : rendering.spans()) {
    all += '|' + std::to_string(span.begin) + '-' + std::to_string(span.end) + ' ' +
           std::string(origin_name(span.origin)) + path_of_span(chat, span);
  }
  for (const TextRange& range : rendering.generation()) all += '[' + std::to_string(range.begin) + ']';
  for (const TextRange& range : rendering.assistant()) all += '(' + std::to_string(range.end) + ')';
  return all;
}

RenderOptions options() {
  RenderOptions options;
  options.want_assistant = true;
  options.now.year = 2026;
  return options;
}

TEST(Threads, OneTemplateOneConversation) {
  const auto compiled = Template::compile(kTemplate);
  ASSERT_TRUE(compiled) << compiled.error().display();
  const auto chat = Conversation::from_json(make_request());
  ASSERT_TRUE(chat) << chat.error().display();
  const auto first = compiled->render(*chat, options());
  ASSERT_TRUE(first) << first.error().display();
  const std::string wanted = describe(*chat, *first);

  // A conversation that no thread has asked for a path yet: its index is made under way.
  const auto fresh = Conversation::from_json(make_request());
  ASSERT_TRUE(fresh);
  std::vector<int> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Workspace workspace;
      Rendering rendering;
      for (int i = 0; i < kRenders; ++i) {
        const auto done = compiled->render(*fresh, options(), workspace, rendering);
        wrong[t] += !done || describe(*fresh, rendering) != wanted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(wrong[t], 0) << "thread " << t;
}

TEST(Threads, FailuresAreTheirOwn) {
  const auto compiled = Template::compile("{% for m in messages %}{{ m.content.nope.more }}{% endfor %}");
  ASSERT_TRUE(compiled);
  const auto chat = Conversation::from_json(make_request());
  ASSERT_TRUE(chat);
  const std::string wanted = compiled->render(*chat).error().display();
  std::vector<int> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRenders; ++i) {
        const auto done = compiled->render(*chat);
        wrong[t] += done.has_value() || done.error().display() != wanted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(wrong[t], 0) << "thread " << t;
}

TEST(Threads, EachCompilesItsOwn) {
  const auto chat = Conversation::from_json(make_request());
  ASSERT_TRUE(chat);
  const auto compiled = Template::compile(kTemplate);
  ASSERT_TRUE(compiled);
  const auto first = compiled->render(*chat, options());
  ASSERT_TRUE(first) << first.error().display();
  const std::string wanted = describe(*chat, *first);
  std::vector<int> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRenders / 4; ++i) {
        const auto own = Template::compile(kTemplate);
        const auto done = own->render(*chat, options());
        wrong[t] += !done || describe(*chat, *done) != wanted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(wrong[t], 0) << "thread " << t;
}

}  // namespace
}  // namespace parlance
