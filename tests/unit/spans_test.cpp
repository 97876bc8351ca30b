// Spans: they do not depend on the way that bytes took into the prompt. Begin reading at kJson.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "parlance/conversation.h"
#include "parlance/template.h"
#include "share.h"

namespace parlance {
namespace {

struct Rendered {
  std::string text;
  std::vector<Span> spans;
};

Rendered render(std::string_view source, const Conversation& conversation) {
  const Result<Template> compiled = Template::compile(source);
  EXPECT_TRUE(compiled) << source << "\n" << compiled.error().display();
  if (!compiled) return {};
  RenderOptions options;
  options.as_is = true;
  const Result<Rendering> rendering = compiled->render(conversation, options);
  EXPECT_TRUE(rendering) << source << "\n" << rendering.error().display();
  if (!rendering) return {};
  return {std::string(rendering->text()), {rendering->spans().begin(), rendering->spans().end()}};
}

Conversation read_as_is(std::string_view json) {
  ReadOptions options;
  options.normalise = false;
  Conversation conversation;
  const Result<void> done = conversation.read(json, options);
  EXPECT_TRUE(done) << json;
  return conversation;
}

/// What is known of each byte. Where a span begins is not: text that is written in one go has fewer of them.
using Origins = std::vector<std::tuple<Origin, std::int32_t, std::string>>;

Origins origins(const Rendered& rendered, const Conversation& conversation) {
  Origins all;
  std::uint32_t at = 0;
  for (const Span& span : rendered.spans) {
    EXPECT_EQ(span.begin, at);
    EXPECT_LT(span.begin, span.end);
    all.insert(all.end(), span.end - span.begin, {span.origin, span.message, path_of_span(conversation, span)});
    at = span.end;
  }
  EXPECT_EQ(at, rendered.text.size());
  return all;
}

/// JSON of all that it can be made from, but for what is folded when the template is compiled: the input's values, the
/// template's, both; short and long, with and without escapes.
constexpr std::string_view kJson[] = {
    "messages",
    "messages[1]",
    "messages[1].content",
    "tools[0]",
    "tools",
    "range(0)|list",
    "dict()",
    "tools[0].nothing",
    "{'a': 1, 'b': [true, none, 2.5], 'c': 'text', 'd': messages[0]}",
    "{'a': messages[0].role ~ '-' ~ messages[1].role, messages[0].role: tools}",
    "[messages[0].content|upper, messages[1].content|trim, 1 + 2, tools[0].n + 1]",
    "{1: 'one', none: 2, true: [3], 2.5: messages[0].role}",
    "('x' * 700) ~ messages[1].content * 40",
    "tools[0].big",
    "[tools[0].big, tools[0].big + 1, tools[0].r]",
};
constexpr std::string_view kArguments[] = {
    "",
    "(indent=2)",
    "(indent='--')",
    "(separators=(',', ':'))",
    "(separators=('12345678901234567890', ' => '))",
    "(sort_keys=true)",
    "(ensure_ascii=true)",
};
constexpr std::string_view kSpansRequest =
    R"({"tools": [{"n": 7, "r": 1e400, "big": 123456789012345678901234567890, "nothing": [[], {}], )"
    R"("text": "\u00e9\"\\"}],)"
    R"("messages": [{"role": "user", "content": "a\nb"}, {"role": "tool", "content": " c\"<|x|>\u2028d "}]})";

bool sorts(std::string_view arguments, std::string_view value) {
  return arguments != "(sort_keys=true)" || value.find("none: 2") == value.npos;  // numbers and None have no order
}

TEST(Spans, JsonHasItsOriginsWhereverItIsWritten) {
  const Conversation conversation = read_as_is(kSpansRequest);
  for (const std::string_view value : kJson) {
    for (const std::string_view arguments : kArguments) {
      if (!sorts(arguments, value)) continue;
      const std::string json = "(" + std::string(value) + ")|tojson" + std::string(arguments);
      SCOPED_TRACE(json);
      const Rendered straight = render("<{{ " + json + " }}>", conversation);
      const Rendered captured = render("<{% set a %}{{ " + json + " }}{% endset %}{{ a }}>", conversation);
      const Rendered stored = render("<{% set a = " + json + " %}{{ a }}>", conversation);
      EXPECT_EQ(straight.text, captured.text);
      EXPECT_EQ(straight.text, stored.text);
      const Origins expected = origins(stored, conversation);
      EXPECT_EQ(origins(straight, conversation), expected);
      EXPECT_EQ(origins(captured, conversation), expected);
    }
  }
}

TEST(Spans, TextAroundJsonThatMakesThePromptGrow) {
  std::string json = R"({"messages": [)";
  for (int i = 0; i < (testing::is_sparse() ? 130 : 300); ++i) {
    json += std::string(i == 0 ? "" : ",") + R"({"role": "user", "content": ")" + std::string(400, 'a') + R"(\n"})";
  }
  const Conversation conversation = read_as_is(json + "]}");
  // Ten times as much as the request: far more than what is set aside.
  constexpr std::string_view kMany =
      "{% for i in range(10) %}{% for m in messages %}[{{ m.role|upper }}{{ m|tojson }}{{ m.content }}]{% endfor %}{% "
      "endfor %}";
  constexpr std::string_view kCaptured =
      "{% for i in range(10) %}{% for m in messages %}[{{ m.role|upper }}{% set j = m|tojson %}{{ j }}{{ m.content }}]"
      "{% endfor %}{% endfor %}";
  const Rendered straight = render(kMany, conversation);
  const Rendered stored = render(kCaptured, conversation);
  EXPECT_EQ(straight.text, stored.text);
  EXPECT_GT(straight.text.size(), 1'000'000u);
  EXPECT_EQ(origins(straight, conversation), origins(stored, conversation));
}

/// A few messages are looked through, many are indexed; some tell nothing of where they begin.
TEST(Spans, MessagesHaveTheirNumbers) {
  constexpr std::string_view kMessages[] = {
      R"({"role": "user", "content": "x", "n": 1, "l": [2, {"k": "v"}]})",
      R"("text alone")",
      "{}",
      "17",
      "null",
      R"(["in a list", 4])",
      R"({"n": 5})",
      R"({"role": "a", "role": "b", "content": "y"})",
  };
  constexpr std::string_view kShow =
      "{{ before|tojson }}{% for m in messages %}({{ m|tojson }}{{ m }}){% endfor %}{{ after|tojson }}";
  for (const std::size_t count : {1, 2, 5, 6, 7, 8, 40}) {
    for (std::size_t odd = 0; odd <= 8; ++odd) {
      std::string json = R"({"before": [0, "b"], "messages": [)";
      for (std::size_t i = 0; i < count; ++i) {
        json += std::string(i == 0 ? "" : ",") +
                std::string(odd == 8 ? kMessages[i % 8] : kMessages[i == count / 2 ? odd : 0]);
      }
      SCOPED_TRACE(json);
      const Conversation conversation = read_as_is(json + R"(], "after": {"a": 6, "t": "z"}})");
      const Rendered rendered = render(kShow, conversation);
      std::size_t found = 0;
      for (const Span& span : rendered.spans) {
        const std::string path = path_of_span(conversation, span);
        const bool inside = path.starts_with("messages[");
        EXPECT_EQ(span.message, inside ? std::stoi(path.substr(9)) : -1) << path;
        found += inside;
      }
      // Only the odd one may say nothing that leads to it.
      EXPECT_GE(found, (count - 1) / 2);
      EXPECT_TRUE(found > 0 || odd != 0);
    }
  }
}

/// Constants keep their places however they are put together and taken apart.
TEST(Spans, ConstantsStandWhereTheTemplateHasThem) {
  const Conversation conversation = read_as_is(kSpansRequest);
  constexpr std::string_view kSource =
      "{% macro turn(m) %}{{ '<|start|>' + m.role + '<|end|>' }}tail{% endmacro %}"
      "{% set a = '<|one|>' ~ messages[0].content ~ '<|two|>' %}{{ a }}{{ a[2:5] }}{{ a[:7] }}{{ a[-7:] }}{{ a[-7:-1] "
      "}}"
      "{% set b %}head{{ turn(messages[1]) }}{{ a }}{% endset %}{{ b }}{{ b.strip('hd') }}{{ (a ~ b)[:9] }}"
      "{% set ns = namespace(t='') %}{% for m in messages %}{% set ns.t = ns.t ~ '[' ~ m.role ~ ']' %}{% endfor %}{{ "
      "ns.t }}"
      "{{ ['p', 'q']|join('--') }}{{ 'abc'.split('b')|join }}{% filter trim %} 'last' {% endfilter %}";
  const Rendered rendered = render(kSource, conversation);
  origins(rendered, conversation);
  std::size_t literals = 0;
  for (const Span& span : rendered.spans) {
    if (span.origin != Origin::literal) continue;
    const std::string bytes = rendered.text.substr(span.begin, span.end - span.begin);
    EXPECT_EQ(kSource.substr(span.template_begin, bytes.size()), bytes);
    EXPECT_EQ(span.control, bytes.find("<|") != bytes.npos && bytes.find("|>") != bytes.npos) << bytes;
    ++literals;
  }
  EXPECT_GE(literals, 25u);
}

/// Constants that stand side by side become one, and those that were folded are made of several places.
TEST(Spans, FoldedConstantsKeepTheirPlacesSideBySide) {
  const Conversation conversation = read_as_is(R"({"d": {"k": 1}})");
  const auto shown = [&](std::string_view source) {
    const Rendered rendered = render(source, conversation);
    origins(rendered, conversation);
    std::string all;
    for (const Span& span : rendered.spans) {
      const std::string bytes = rendered.text.substr(span.begin, span.end - span.begin);
      all += (all.empty() ? "" : " ") + bytes + "=" + std::string(origin_name(span.origin)).substr(0, 1);
      if (span.origin == Origin::literal) all += std::to_string(span.template_begin) + (span.control ? "!" : "");
    }
    return all;
  };
  EXPECT_EQ(shown("{{ {'a':'b'}|tojson }}{{ '<x>' ~ d|tojson }}"),
            R"({=c "a"=l5 : =c "b"=l9 }=c <x>=l26 {"k": =d 1=d }=d)");
  EXPECT_EQ(shown("{{ 8|tojson ~ '<|im_start|>user' }}{{ '<|x|>' ~ d.k|tojson }}"),
            "8=c <|im_start|>user=l15! <|x|>=l39! 1=d");
  EXPECT_EQ(shown("{{ 8|tojson + '<|b|>' }}z"), "8=c <|b|>=l15! z=l24");
}

/// A key that comes twice puts the request out of order, and messages without a text tell nothing of where they stand.
TEST(Spans, MessagesWithoutTextInARequestOutOfOrder) {
  const Conversation conversation =
      read_as_is("{\"a\": \"" + std::string(100'000, 'x') + "\", \"a\": \"y\", \"messages\": [{}]}");
  const Rendered rendered = render("{{ a }}{% set w = 'head<|im_end|>tail' %}{{ w[2:] }}", conversation);
  ASSERT_EQ(rendered.spans.size(), 2u);
  EXPECT_EQ(rendered.spans[0].origin, Origin::input);
  EXPECT_EQ(rendered.spans[1].origin, Origin::literal);
}

// ---- limits, where JSON goes to the prompt straight away

constexpr std::string_view kNumbers = "{% for i in range(40) %}{{ s|tojson }}{% endfor %}";
constexpr std::string_view kCapturedNumbers =
    "{% set a %}{% for i in range(40) %}{{ s|tojson }}{% endfor %}{% endset %}{{ a }}";

ErrorCode failure_of(std::string_view source, const Limits& limits, bool spans) {
  const Conversation conversation =
      read_as_is("{\"s\": [" + std::string(300, '1') + ", \"" + std::string(200, 'x') + "\"]}");
  const Result<Template> compiled = Template::compile(source);
  RenderOptions options;
  options.as_is = true;
  options.want_spans = spans;
  options.limits = limits;
  const Result<Rendering> rendering = compiled->render(conversation, options);
  return rendering ? ErrorCode{} : rendering.error().code();
}

TEST(Spans, JsonStopsExactlyAtTheLimitOfOutput) {
  constexpr std::uint64_t kSize = 40 * (300 + 2 + 200 + 4);
  for (const std::string_view source : {kNumbers, kCapturedNumbers}) {
    for (const bool spans : {false, true}) {
      EXPECT_EQ(failure_of(source, {.output_bytes = kSize}, spans), ErrorCode{}) << source << spans;
      EXPECT_EQ(failure_of(source, {.output_bytes = kSize - 1}, spans), ErrorCode::limit_output) << source << spans;
    }
  }
}

TEST(Spans, JsonIsChargedAndItsSpansTakeMemory) {
  for (const bool spans : {false, true}) {
    EXPECT_EQ(failure_of(kNumbers, {.steps = 500}, spans), ErrorCode::limit_steps);
    EXPECT_EQ(failure_of(kNumbers, {.steps = 100'000}, spans), ErrorCode{});
  }
  constexpr std::string_view kMany =
      "{% for i in range(4000) %}{{ [s, [s, s], s]|tojson(separators=(',', ':')) }}{% endfor %}";
  EXPECT_EQ(failure_of(kMany, {.memory_bytes = 2 << 20}, true), ErrorCode::limit_memory);
}

/// What is put out straight away or done in one instruction is so in the code.
TEST(Spans, InstructionsThatDoTwoThings) {
  const Result<Template> compiled = Template::compile(
      "{% for m in messages %}{% if m.content is string %}{% set c = m.content %}{{ c }}{% endif %}"
      "{% if m.tools %}{% set t = m.tools %}{{ '<t>' ~ t|tojson }}{% endif %}{% endfor %}");
  ASSERT_TRUE(compiled);
  const std::string code = compiled->list_code();
  for (const std::string_view op :
       {"go_on", "jump_attribute_kind_or_get", "jump_attribute_truth_or_get", "emit_filter"}) {
    EXPECT_NE(code.find(op), code.npos) << op << "\n" << code;
  }
}

/// Literals with escapes are neighbours in the compiler's memory; joined while compiling, each still says where it is.
TEST(Spans, JoinedLiteralsKeepTheirPlaces) {
  const Conversation nobody;
  for (const std::string_view source :
       {R"({{ "one\n" ~ "two\n" ~ "three" }})", R"({{ "one\n" + "two\n" + "three" }})"}) {
    const Rendered rendered = render(source, nobody);
    ASSERT_EQ(rendered.text, "one\ntwo\nthree");
    ASSERT_EQ(rendered.spans.size(), 3u) << source;
    for (const Span& span : rendered.spans) {
      const std::string_view text = std::string_view(rendered.text).substr(span.begin, 3);
      EXPECT_EQ(source.substr(span.template_begin, 3), text);
    }
  }
}

/// The text of the block that ends last, as a render that was asked for no spans gives it.
std::string last_generation(const std::string& source, const Conversation& conversation) {
  RenderOptions options;
  options.as_is = true;
  options.want_spans = false;
  const Result<Template> compiled = Template::compile(source);
  const Result<Rendering> plain = compiled->render(conversation, options);
  EXPECT_TRUE(plain) << source;
  if (!plain || plain->generation().empty()) return {};
  const TextRange range = plain->generation().back();
  return std::string(plain->text().substr(range.begin, range.end - range.begin));
}

// What stands in a generation block is written as it is without one, and its place is the same for whoever asks.
TEST(Spans, GenerationBlocksChangeNothing) {
  const Conversation conversation = read_as_is(kSpansRequest);
  for (const std::string body : {
           "{{ messages[1].content }}, {{ tools|tojson }}",
           "{% set x %}<{{ tools[0]|tojson }}>{% endset %}{{ x }}{{ x|upper }}",
           "{% for m in messages %}{% generation %}{{ m.role }}: {{ m|tojson }}{% endgeneration %}{% endfor %}",
           "{% filter trim %} {% generation %}{{ messages[0].content }}{% endgeneration %}{% endfilter %}",
           "{% macro m(x) %}[{{ x|tojson }}]{% endmacro %}{{ m(tools[0]) }}{{ m(messages) ~ '.' }}",
       }) {
    SCOPED_TRACE(body);
    const std::string around = "{{ messages[0].role|upper }} ";
    const std::string marked = around + "{% generation %}" + body + "{% endgeneration %}" + around;
    const Rendered without = render(around + body + around, conversation);
    const Rendered with = render(marked, conversation);
    EXPECT_EQ(with.text, without.text);
    EXPECT_EQ(origins(with, conversation), origins(without, conversation));
    EXPECT_EQ("USER " + last_generation(marked, conversation) + "USER ", with.text);
  }
}

}  // namespace
}  // namespace parlance
