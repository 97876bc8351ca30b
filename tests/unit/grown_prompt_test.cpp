// GrownPrompt: a prompt that grows by turns, of which each render makes only the end.
#include "tokens/grown_prompt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "parlance/conversation.h"
#include "parlance/template.h"

namespace parlance {
namespace {

constexpr const char* kGrowing =
    "{% for m in messages %}<|start|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}";

TEST(GrownPrompt, RendersOnceMoreWhereItsMiddleIsAskedFor) {
  const Template turns = *Template::compile(kGrowing);
  const RenderOptions options{.add_generation_prompt = false};
  Conversation chat;
  GrownPrompt prompt;
  for (int turn = 0; turn < 30; ++turn) {
    ASSERT_TRUE(chat.add({.role = turn % 2 == 0 ? "user" : "assistant", .content = std::to_string(turn)}));
    const std::size_t known = prompt.known().size();
    ASSERT_TRUE(prompt.render(turns, chat, options, true, known));
    ASSERT_TRUE(prompt.goes_on());
    EXPECT_GE(prompt.pieces().left_out() + 3, static_cast<std::uint64_t>(turn));
    const std::size_t from = turn % 3 == 0 ? known / 2 : known;
    const Result<PromptEnd> end = prompt.end_from(from);
    ASSERT_TRUE(end);
    const Result<Rendering> whole = turns.render(chat, options);
    ASSERT_EQ(end->text_from(from), whole->text().substr(from));
    EXPECT_TRUE(turn < 6 || (prompt.pieces().left_out() == 0) == (turn % 3 == 0));
    prompt.accept();
    ASSERT_EQ(prompt.known(), whole->text());
  }
}

TEST(GrownPrompt, LeavesOutNothingBehindTheByteThatIsAskedFor) {
  const Template turns = *Template::compile(kGrowing);
  const RenderOptions options{.add_generation_prompt = false};
  Conversation chat;
  GrownPrompt prompt;
  for (int turn = 0; turn < 30; ++turn) {
    ASSERT_TRUE(chat.add({.role = "user", .content = std::to_string(turn)}));
    const std::size_t from = prompt.known().size() - std::min<std::size_t>(prompt.known().size(), 40);
    ASSERT_TRUE(prompt.render(turns, chat, options, true, from));
    EXPECT_TRUE(prompt.pieces().reaches(from));
    EXPECT_TRUE(turn < 6 || prompt.pieces().left_out() > 0);
    prompt.accept();
  }
}

}  // namespace
}  // namespace parlance
