// What LossFinder's options bound; what it finds is tested by tests/losses_test.py and tests/cli/run_losses_tests.py.
#include "parlance/losses.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "parlance/conversation.h"

namespace parlance {
namespace {

/// Does a note say that this Go template does not see the wish to think?
bool says_unseen(const char* text, std::size_t experiments) {
  const Result<Template> made = Template::compile(text, {.syntax = Syntax::go});
  EXPECT_TRUE(made) << made.error().display();
  const Result<Conversation> chat =
      Conversation::from_json(R"({"messages": [{"role": "user", "content": "Hi"}], "think": true})");
  EXPECT_TRUE(chat) << chat.error().display();
  const LossFinder finder(*made, {.experiments = experiments});
  Workspace workspace;
  const Result<CheckedRendering> prompt = finder.render(*chat, {}, workspace);
  EXPECT_TRUE(prompt) << prompt.error().display();
  return std::ranges::any_of(prompt->losses, [](const Loss& loss) { return loss.path == "think"; });
}

TEST(Losses, ExperimentsBoundHowManyValuesOfThinkAreTried) {
  constexpr const char* kBlind = "{{ range .Messages }}{{ .Content }}{{ end }}";
  EXPECT_TRUE(says_unseen(kBlind, 32));
  EXPECT_TRUE(says_unseen(kBlind, 5));
  for (const std::size_t few : {0, 1, 4}) EXPECT_FALSE(says_unseen(kBlind, few)) << few;
  EXPECT_FALSE(says_unseen("{{ if .Think }}think{{ end }}{{ range .Messages }}{{ .Content }}{{ end }}", 32));
}

}  // namespace
}  // namespace parlance
