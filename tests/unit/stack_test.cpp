// What limits.h says of the stack: the deepest input that is read at default limits, on a thread of that size.
//
// A thread whose stack overflows ends the process. What fails must fail as an error.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>

#include "parlance/conversation.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/reply.h"
#include "parlance/reply_format.h"
#include "parlance/template.h"

namespace parlance {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr bool kHasLargeFrames = true;
#elif defined(__has_feature)
constexpr bool kHasLargeFrames = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kHasLargeFrames = false;
#endif
/// As limits.h says; code that is not optimised, or that a sanitizer watches, takes more.
constexpr std::size_t kStackBytes = std::size_t{kHasLargeFrames ? 8192 : 512} << 10;

void on_a_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  const auto call = [](void* given) -> void* {
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  };
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&work)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string times(std::size_t count, std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

/// `middle` within `count` of what opens and closes.
std::string nested(std::size_t count, std::string_view open, std::string_view middle, std::string_view close) {
  return times(count, open).append(middle) + times(count, close);
}

/// Each with the most levels that are read; one level more, and many more, are an error.
struct NestedTemplate {
  std::string_view open, middle, close;
  std::size_t most;
};
constexpr NestedTemplate kNestedTemplates[] = {
    {"{% macro a() %}", "", "{% endmacro %}", 100},
    {"{% call f() %}", "", "{% endcall %}", 100},
    {"{% if a %}", "", "{% endif %}", 100},
    {"", "{{ a", "|default(a)", 398},
    {"", "{{ a", "+a", 398},
};
constexpr std::string_view kNestedInExpression[][3] = {
    {"f(", "a", ")"}, {"[", "a", "]"}, {"{a: ", "a", "}"}, {"a|default(", "a", ")"}, {"f(a=", "a", ")"}};

TEST(Stack, TemplatesThatNestAreCompiled) {
  on_a_small_stack([] {
    for (const auto& [open, middle, close, most] : kNestedTemplates) {
      const std::string end = middle.empty() ? "" : "}}";
      EXPECT_TRUE(Template::compile(nested(most, open, middle, close) + end)) << open << close;
      for (const std::size_t more : {most + 1, std::size_t{100'000}})
        EXPECT_FALSE(Template::compile(nested(more, open, middle, close) + end)) << open << close;
    }
    for (const auto& [open, middle, close] : kNestedInExpression) {
      EXPECT_TRUE(Template::compile("{{ " + nested(199, open, middle, close) + " }}")) << open;
      EXPECT_FALSE(Template::compile("{{ " + nested(201, open, middle, close) + " }}")) << open;
    }
    for (const std::size_t filters : {299, 398}) {
      const std::string chain = "{{ a" + times(filters, "|default(a)") + " }}";
      EXPECT_EQ(bool(Template::compile(nested(99, "{% macro a() %}", chain, "{% endmacro %}"))), filters == 299);
    }
    const Result<Template> go =
        Template::compile("{{ " + nested(100'000, "(", "1", ")") + " }}", {.syntax = Syntax::go});
    EXPECT_FALSE(go);
  });
}

TEST(Stack, DataThatNestsAreRendered) {
  on_a_small_stack([] {
    for (const std::size_t depth : {std::size_t{195}, std::size_t{990}}) {
      const Result<Conversation> chat = Conversation::from_json(
          R"({"messages": [{"role": "user", "content": "x"}], "v": )" + nested(depth, "[", "", "]") + "}");
      ASSERT_TRUE(chat);
      for (const std::string_view text : {"{{ v }}", "{{ v|tojson }}", "{{ v|pprint }}", "{{ [v, v]|sort }}",
                                          "{{ v == v }}", "{% for a in v recursive %}{{ loop(a) }}{% endfor %}"}) {
        const Result<Template> compiled = Template::compile(text);
        ASSERT_TRUE(compiled);
        const Result<Rendering> rendering = compiled->render(*chat);
        if (!rendering) {
          EXPECT_EQ(rendering.error().code(), ErrorCode::limit_depth) << text;
        }
      }
      EXPECT_EQ(json_text(chat->variables()["v"]).size(), 2 * depth);
    }
    const Result<Conversation> deeper = Conversation::from_json(nested(100'000, R"({"messages": )", "[]", "}"));
    ASSERT_FALSE(deeper);
    EXPECT_EQ(deeper.error().code(), ErrorCode::limit_depth);
  });
}

TEST(Stack, AReplyFormatThatNestsIsRefusedAsItIsRead) {
  on_a_small_stack([] {
    for (const std::size_t depth : {std::size_t{9}, std::size_t{900}}) {
      const std::string object = nested(depth, R"({"k": )", R"("name")", "}");
      const Result<ReplyFormat> format =
          ReplyFormat::from_json(R"({"calls": [{"call": ["<", {"object": )" + object + R"(}, ">"]}]})");
      ASSERT_FALSE(format);
      EXPECT_EQ(format.error().message(), "too deep, or too many objects");
      EXPECT_EQ(format.error().input_path(), "calls[0].call[1].object" + times(8, ".k"));
    }
  });
}

TEST(Stack, SchemasThatNestBecomeGrammars) {
  on_a_small_stack([] {
    for (const std::string& schema :
         {nested(900, R"({"type": "array", "items": )", "{}", "}"),
          nested(490, R"({"type": "object", "properties": {"a": )", "{}", "}}"),
          nested(490, R"({"anyOf": [)", "{}", "]}"), R"({"const": )" + nested(990, "[", "", "]") + "}"}) {
      const Result<Grammar> grammar = make_value_grammar(schema);
      ASSERT_TRUE(grammar) << schema.substr(0, 40);
      for (std::size_t i = 0; i < kGrammarSyntaxes; ++i)
        EXPECT_NE(grammar->to_text(static_cast<GrammarSyntax>(i)), "") << schema.substr(0, 40);
      (void)grammar->accepts(nested(900, "[", "", "]"));
    }
  });
}

}  // namespace
}  // namespace parlance
