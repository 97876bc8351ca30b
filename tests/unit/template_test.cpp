// Template: what render_pieces gives is what render gives.
#include "parlance/template.h"

#include <gtest/gtest.h>

#include <string>

#include "parlance/conversation.h"

namespace parlance {
namespace {

constexpr std::string_view kTurnsTemplate =
    "{%- for m in messages %}<{{ m.role }}>{{ m.content|upper }}{{ m.content }}</{{ m.role }}>{% endfor %}";
constexpr std::string_view kRequest =
    R"({"messages": [{"role": "user", "content": "a\nb"}, {"role": "assistant", "content": "c"}]})";

std::string joined(const std::vector<std::string_view>& pieces) {
  std::string all;
  for (const std::string_view piece : pieces) all += piece;
  return all;
}

void expect_same_rendering(const RenderOptions& options) {
  const Result<Template> compiled = Template::compile(kTurnsTemplate);
  ASSERT_TRUE(compiled);
  const Result<Conversation> conversation = Conversation::from_json(kRequest);
  ASSERT_TRUE(conversation);
  const Result<Rendering> rendering = compiled->render(*conversation, options);
  ASSERT_TRUE(rendering);
  Workspace workspace;
  for (int i = 0; i < 2; ++i) {  // the second time with memory that was used
    const auto pieces = compiled->render_pieces(*conversation, options, workspace);
    ASSERT_TRUE(pieces);
    EXPECT_EQ(joined(*pieces), rendering->text());
  }
}

TEST(Template, ATimeThatIsNoneIsRefused) {
  const Result<Template> compiled = Template::compile("{{ strftime_now('%d %B %Y %j') }}");
  ASSERT_TRUE(compiled);
  const Conversation chat;
  const auto message_of = [&](const CivilTime& now) {
    const Result<Rendering> rendering = compiled->render(chat, {.now = now});
    if (!rendering) {
      EXPECT_EQ(rendering.error().code(), ErrorCode::usage);
    }
    return rendering ? std::string(rendering->text()) : rendering.error().message();
  };
  EXPECT_EQ(message_of({2024, 2, 29}), "29 February 2024 060");
  EXPECT_EQ(message_of({2026, 1, 1, 23, 59, 60}), "01 January 2026 001") << "a leap second";
  EXPECT_EQ(message_of({2026, 0, 1}), "the month of `now` is 0; it must be from 1 to 12");
  EXPECT_EQ(message_of({2026, -1, 1}), "the month of `now` is -1; it must be from 1 to 12");
  EXPECT_EQ(message_of({2026, 13, 1}), "the month of `now` is 13; it must be from 1 to 12");
  EXPECT_EQ(message_of({2026, 2, 29}), "the day of `now` is 29; it must be from 1 to 28");
  EXPECT_EQ(message_of({0, 1, 1}), "the year of `now` is 0; it must be from 1 to 9999");
  EXPECT_EQ(message_of({2026, 1, 1, 24}), "the hour of `now` is 24; it must be from 0 to 23");
  EXPECT_EQ(message_of({2026, 1, 1, 0, 0, 0, -1}), "the microsecond of `now` is -1; it must be from 0 to 999999");
  const Result<Template> go = Template::compile("{{ currentDate }}", {.syntax = Syntax::go});
  ASSERT_TRUE(go) << go.error().message();
  const Result<Rendering> rendering = go->render(chat, {.now = {2026, 13, 1}});
  ASSERT_FALSE(rendering);
  EXPECT_EQ(rendering.error().code(), ErrorCode::usage);
}

TEST(Template, PiecesMakeThePrompt) {
  expect_same_rendering({});
  RenderOptions options;
  options.continue_final = true;
  expect_same_rendering(options);
}

/// Without spans bytes are written to the text as they are put out; with them pieces are. Captures take some off again,
/// generation blocks leave theirs, and what is long makes the text grow.
constexpr std::string_view kCaptures =
    "{% macro wrap(x) %}[{% generation %}{{ x }}{% endgeneration %}]{% endmacro %}"
    "a{% set block %}b{{ wrap('c' * 3000) }}{% endset %}{{ block }}d{% generation %}e{{ block }}{% set inner %}f{% "
    "endset %}g"
    "{% generation %}{{ inner }}{{ 'h' * 9000 }}{% endgeneration %}{% endgeneration %}{% filter upper %}i{{ wrap('j') "
    "}}{% endfilter %}"
    "{{ '' }}{% for m in messages %}{{ m.role + '\n' + m.content + 'k' * 5000 }}{% endfor %}{{ wrap(block) ~ inner }}";

TEST(Template, ThePromptIsTheSameWhetherItsOriginsAreAskedForOrNot) {
  const Result<Template> compiled = Template::compile(kCaptures);
  ASSERT_TRUE(compiled) << compiled.error().display();
  const Result<Conversation> conversation = Conversation::from_json(kRequest);
  RenderOptions plain, traced;
  plain.want_spans = false;
  Workspace workspace;
  Rendering one, other;
  for (int i = 0; i < 2; ++i) {  // the second time with memory that was used
    ASSERT_TRUE(compiled->render(*conversation, plain, workspace, one));
    ASSERT_TRUE(compiled->render(*conversation, traced, workspace, other));
    EXPECT_EQ(one.text(), other.text());
    EXPECT_GT(one.text().size(), 25'000u);
    ASSERT_EQ(one.generation().size(), other.generation().size());
    for (std::size_t k = 0; k < one.generation().size(); ++k) {
      EXPECT_EQ(one.generation()[k].begin, other.generation()[k].begin);
      EXPECT_EQ(one.generation()[k].end, other.generation()[k].end);
    }
    std::uint32_t end = 0;
    for (const Span& span : other.spans()) {
      EXPECT_EQ(span.begin, end);
      end = span.end;
    }
    EXPECT_EQ(end, other.text().size());
    EXPECT_TRUE(one.spans().empty());
  }
}

TEST(Template, ARenderingThatWasMovedFromIsFilledAgain) {
  const Result<Template> compiled = Template::compile(kTurnsTemplate);
  const Result<Conversation> conversation = Conversation::from_json(kRequest);
  Workspace workspace;
  Rendering rendering;
  std::vector<Rendering> all;
  for (const bool spans : {true, false, true}) {
    RenderOptions options;
    options.want_spans = spans;
    ASSERT_TRUE(compiled->render(*conversation, options, workspace, rendering));
    all.push_back(std::move(rendering));
    EXPECT_TRUE(rendering.text().empty());
    EXPECT_TRUE(rendering.spans().empty());
  }
  EXPECT_EQ(all[0].text(), all[1].text());
  EXPECT_EQ(all[0].text(), all[2].text());
  EXPECT_EQ(all[0].spans().size(), all[2].spans().size());
  all[0] = std::move(all[2]);
  EXPECT_EQ(all[0].text(), all[1].text());
  EXPECT_TRUE(all[2].text().empty());
}

TEST(Template, ATextThatGrowsPastItsLimitIsAnError) {
  const Result<Template> compiled = Template::compile("{{ 'x' * 20000 }}");
  const Result<Conversation> conversation = Conversation::from_json(kRequest);
  RenderOptions options;
  options.limits.output_bytes = 10'000;
  for (const bool spans : {false, true}) {
    options.want_spans = spans;
    const Result<Rendering> failed = compiled->render(*conversation, options);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), ErrorCode::limit_output);
  }
}

TEST(Template, PiecesFailAsThePromptDoes) {
  const Result<Template> compiled = Template::compile("{{ messages[7].content }}");
  ASSERT_TRUE(compiled);
  const Result<Conversation> conversation = Conversation::from_json(kRequest);
  Workspace workspace;
  const auto pieces = compiled->render_pieces(*conversation, {}, workspace);
  ASSERT_FALSE(pieces);
  EXPECT_EQ(pieces.error().code(), ErrorCode::undefined);
}

}  // namespace
}  // namespace parlance
