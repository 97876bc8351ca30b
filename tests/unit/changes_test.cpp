// CompileOptions::allow_changes: what a template may change then, what it still may not, and what stops it.
#include <gtest/gtest.h>

#include "parlance/template.h"
#include "text_or_error.h"

namespace parlance {
namespace {

/// The prompt, or the failure in brackets.
std::string rendered_text(std::string_view text, bool allow_changes = true, const Limits& limits = {}) {
  CompileOptions options;
  options.allow_changes = allow_changes;
  const Result<Template> compiled = Template::compile(text, options);
  if (!compiled) return "[" + std::string(compiled.error().message()) + "]";
  const Result<Conversation> chat = Conversation::from_json(
      R"({"messages": [{"role": "user", "content": "hi"}], "names": ["a", "b"], "ages": {"a": 1}})");
  RenderOptions rendering;
  rendering.limits = limits;
  const Result<Rendering> prompt = compiled->render(*chat, rendering);
  return prompt ? std::string(prompt->text()) : "[" + std::string(prompt.error().message()) + "]";
}

struct ChangeRow {
  std::string_view text;
  std::string_view expected;
};

TEST(Changes, AsPythonDoesThem) {
  constexpr ChangeRow kChangeRows[] = {
      {"{% set l = [1] %}{{ l.append(2) }}{{ l }}", "None[1, 2]"},
      {"{% set l = [1] %}{% set m = l %}{% set _ = m.extend('ab') %}{{ l }}", "[1, 'a', 'b']"},
      {"{% set l = [1, 2] %}{% set _ = l.insert(-1, 3) %}{{ l }}", "[1, 3, 2]"},
      {"{% set l = [1, 2, 3] %}{{ l.pop(0) }}{{ l.pop() }}{{ l }}", "13[2]"},
      {"{% set l = [1, 2, 1.0] %}{% set _ = l.remove(1.0) %}{% set _ = l.reverse() %}{{ l }}", "[1.0, 2]"},
      {"{% set l = [1] %}{% set _ = l.clear() %}{{ l }}{{ l.pop() }}", "[pop from empty list]"},
      {"{% set l = [1] %}{{ l.pop(3) }}", "[pop index out of range]"},
      {"{% set l = [1] %}{{ l.remove(3) }}", "[list.remove(x): x not in list]"},
      {"{% set d = {'a': 1} %}{% set _ = d.update({'b': 2}, a=3) %}{{ d }}", "{'a': 3, 'b': 2}"},
      {"{% set d = {'a': 1} %}{{ d.setdefault('a', 2) }}{{ d.setdefault('b') }}{{ d }}", "1None{'a': 1, 'b': None}"},
      {"{% set d = {'a': 1, 'b': 2} %}{{ d.pop('a') }}{{ d.pop('a', 7) }}{{ d }}", "17{'b': 2}"},
      {"{% set d = {'a': 1} %}{{ d.pop('c') }}", "['c']"},
      {"{% set l = [2, 1.0, 3, 1] %}{{ l.sort() }}{{ l }}", "None[1.0, 1, 2, 3]"},
      {"{% set l = [2, 1.0, 3, 1] %}{% set _ = l.sort(reverse=true) %}{{ l }}", "[3, 2, 1.0, 1]"},
      {"{% set l = ['b', 'B', 'a'] %}{% set _ = l.sort(key=none) %}{{ l }}", "['B', 'a', 'b']"},
      {"{% set l = [1, 'a'] %}{{ l.sort() }}", "['<' not supported between instances of 'str' and 'int']"},
      {"{% set l = ['b', 'a'] %}{{ l.sort(key='x') }}", "[sort() takes no key here but None, not str]"},
      {"{% set d = {'a': 1, 'b': 2} %}{{ d.popitem() }}{{ d }}", "('b', 2){'a': 1}"},
      {"{% set n = 'nan' %}{% set d = {1: 'x', n|float: 'y'} %}{{ d.popitem()[1] }}{{ d }}", "y{1: 'x'}"},
      {"{% set d = {} %}{{ d.popitem() }}", "['popitem(): dictionary is empty']"},
      {"{% set d = {'a': 1} %}{% set _ = d.clear() %}{{ d }}", "{}"},
      {"{% for i in range(2) %}{% set l = [] %}{% set _ = l.append(i) %}{{ l }}{% endfor %}", "[0][1]"},
      {"{% set n = namespace(l=[]) %}{% for i in range(3) %}{% set _ = n.l.append(i) %}{% endfor %}{{ n.l }}",
       "[0, 1, 2]"},
      {"{% set l = ([1],) %}{% set _ = l[0].append(2) %}{{ l }}", "([1, 2],)"},
      {"{% set c = names.copy() %}{% set _ = c.append('c') %}{{ c }}{{ names }}", "['a', 'b', 'c']['a', 'b']"},
      {"{% set c = ages.copy() %}{% set _ = c.pop('a') %}{{ c }}{{ ages }}", "{}{'a': 1}"},
  };
  for (const ChangeRow& row : kChangeRows) EXPECT_EQ(rendered_text(row.text), row.expected) << row.text;
}

/// Not as Python, whose loops see a change of their list, and fail when their dict grows (COMPATIBILITY.md).
TEST(Changes, ALoopGoesOverWhatWasThereWhenItBegan) {
  constexpr ChangeRow kLoops[] = {
      {"{% set l = [1, 2] %}{% for x in l %}{% set _ = l.clear() %}{{ x }}{% endfor %}{{ l }}", "12[]"},
      {"{% set l = [1, 2] %}{% for x in l %}{% set _ = l.append(x) %}{{ x }}{% endfor %}{{ l }}", "12[1, 2, 1, 2]"},
      {"{% set d = {'a': 1, 'b': 2} %}{% for k in d %}{{ d.pop(k) }}{% endfor %}{{ d }}", "12{}"},
      {"{% set d = {'a': 1} %}{% for k, v in d.items() %}{% set _ = d.update(b=v) %}{{ k }}{% endfor %}{{ d }}",
       "a{'a': 1, 'b': 1}"},
  };
  for (const ChangeRow& row : kLoops) EXPECT_EQ(rendered_text(row.text), row.expected) << row.text;
}

/// Built without a request's text, so that nothing in it has a place in one.
TEST(Changes, NeverReachAConversationThatWasBuilt) {
  Conversation chat;
  ASSERT_TRUE(chat.add({.role = "user", .content = "hi"}));
  CompileOptions options;
  options.allow_changes = true;
  for (const std::string_view text :
       {"{% set _ = messages.append({'role': 'x'}) %}", "{% set _ = messages[0].update(role='x') %}",
        "{% for m in messages %}{% set _ = m.update(role='x') %}{% endfor %}"}) {
    const Result<Template> compiled = Template::compile(text, options);
    ASSERT_TRUE(compiled) << text;
    EXPECT_NE(text_or_error(compiled->render(chat)).find("is unsafe"), std::string::npos) << text;
  }
  const Result<Template> shows = Template::compile("{{ messages }}");
  EXPECT_EQ(text_or_error(shows->render(chat)), "[{'role': 'user', 'content': 'hi'}]");
}

TEST(Changes, AreRefusedByDefaultAndToTheConversation) {
  constexpr std::string_view kRefused = "[access to attribute 'append' of 'list' object is unsafe.]";
  EXPECT_EQ(rendered_text("{{ [].append(1) }}", false), kRefused);
  EXPECT_EQ(rendered_text("{{ names.append(1) }}"), kRefused);
  EXPECT_EQ(rendered_text("{{ messages.append(1) }}"), kRefused);
}

TEST(Changes, EachRenderBeginsAnew) {
  CompileOptions options;
  options.allow_changes = true;
  const Result<Template> compiled = Template::compile("{% set l = [[]] %}{% set _ = l[0].append(1) %}{{ l }}", options);
  ASSERT_TRUE(compiled);
  const Result<Conversation> chat = Conversation::from_json(R"({"messages": []})");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(text_or_error(compiled->render(*chat)), "[[1]]");
}

TEST(Changes, OfASandboxedTemplateAreAllowedInACopy) {
  const Result<Template> sandboxed = Template::compile("{% set l = [] %}{% set _ = l.append(1) %}{{ l }}");
  const Result<Conversation> chat = Conversation::from_json(R"({"messages": []})");
  const Result<Template> copy = sandboxed->with_changes();
  ASSERT_TRUE(copy);
  EXPECT_FALSE(sandboxed->render(*chat));
  EXPECT_EQ(text_or_error(copy->render(*chat)), "[1]");
}

TEST(Changes, HaveLimits) {
  Limits limits;
  limits.memory_bytes = 4 << 20;
  limits.steps = 1'000'000;
  EXPECT_TRUE(
      rendered_text("{% set l = [1] %}{% for i in range(99999) %}{% set _ = l.extend(l) %}{% endfor %}{{ l | length }}",
                    true, limits)
          .starts_with("["));
  EXPECT_TRUE(
      rendered_text("{% set l = [] %}{% for i in range(99999) %}{% set _ = l.append(i) %}{% endfor %}{{ l | length }}",
                    true, limits)
          .starts_with("["));
}

TEST(Changes, AListInItselfEnds) {
  constexpr ChangeRow kUses[] = {
      {"{{ l }}", "[[...]]"},
      {"{{ l | string | length }}", "7"},
      {"{{ l | tojson }}", "[Circular reference detected]"},
      {"{% set d = {'l': l} %}{% set _ = l.append(d) %}{{ d | tojson(indent=1) }}", "[Circular reference detected]"},
      {"{{ l == [l] }}", "True"},
  };
  for (const ChangeRow& use : kUses) {
    EXPECT_EQ(rendered_text("{% set l = [] %}{% set _ = l.append(l) %}" + std::string(use.text)), use.expected)
        << use.text;
  }
}

}  // namespace
}  // namespace parlance
