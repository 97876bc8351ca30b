// Passes that join or change messages: what paths, numbers and notes say of them afterwards, and passes that are asked
// for twice.
#include <gtest/gtest.h>

#include "conversation/normalise.h"
#include "parlance/template.h"
#include "unit/value_as_json.h"

namespace parlance {
namespace {

using testing::as_json;

/// Options for requests that differ from all of the defaults in these passes.
ReadOptions also(std::initializer_list<std::string_view> passes) { return {.passes = *Passes::of(passes)}; }

TEST(Normalise, JoinedMessagesKeepTheirPlaces) {
  Result<Conversation> chat = Conversation::from_json(
      R"({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"},
          {"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{\"x\": \"y\", \"n\": 1}"}]},
          {"role": "user", "content": "c"}, {"role": "user", "content": "d"}]})",
      also({"join-users", "arguments-text"}));
  ASSERT_TRUE(chat.has_value());
  EXPECT_EQ(as_json(chat->messages()),
            R"([{"role":"user","content":"a\n\nb"},{"role":"assistant","tool_calls":[{"type":"function",)"
            R"("function":{"name":"f",)"
            R"("arguments":"{\"x\": \"y\", \"n\": 1}"}}],"content":""},{"role":"user","content":"c\n\nd"}])");
  const Template compiled = *Template::compile(
      "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}{{ c.function.arguments }}{% endfor %}{% "
      "endfor %}");
  const auto places = [&] {
    const Result<Rendering> prompt = compiled.render(*chat);
    EXPECT_TRUE(prompt.has_value());
    std::string places;
    for (const Span& span : prompt->spans()) {
      const std::string path = path_of_span(*chat, span);
      if (path.ends_with("content") || path.ends_with("arguments.x"))
        places += path + "=" + std::to_string(span.message) + " ";
    }
    return places;
  };
  EXPECT_EQ(places(), "messages[0].content=0 messages[1].content=0 messages[3].content=2 messages[4].content=2 ");
  const Message before[] = {{.role = "system", .content = "s"}};
  ASSERT_TRUE(chat->put_before(before).has_value());
  EXPECT_EQ(places(),
            "model.messages[0].content=0 messages[0].content=1 messages[1].content=1 messages[3].content=3 "
            "messages[4].content=3 ");
}

TEST(Normalise, NotesNameMessagesOfTheRequestAfterJoins) {
  const Result<Conversation> chat = Conversation::from_json(
      R"({"messages": [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}, {"role": "user", )"
      R"("content": "c"},
          {"role": "user", "content": "d"}, {"role": "assistant", "reasoning": "r", "content": "e"}]})",
      also({"join-systems", "join-users"}));
  ASSERT_TRUE(chat.has_value());
  const std::vector<std::string> notes = {"messages[1]: joined with the message before (join-systems)",
                                          "messages[3]: joined with the message before (join-users)",
                                          "messages[4].reasoning_content: taken from reasoning (reasoning-names)"};
  EXPECT_EQ(std::vector<std::string>(chat->notes().begin(), chat->notes().begin() + 3), notes);
}

TEST(Normalise, PassesAskedForTwiceAreForTheRolesOfBoth) {
  const char* request =
      R"({"messages": [{"role": "user", "content": []}, {"role": "tool", "content": []}, {"role": "x", "content": )"
      R"([]}]})";
  const auto joined = [&](std::initializer_list<std::string_view> passes) {
    const Result<Conversation> chat = Conversation::from_json(request, also(passes));
    std::size_t count = 0;
    for (const std::string& note : chat->notes()) count += note.find("content-parts") != std::string::npos;
    return count;
  };
  EXPECT_EQ(joined({"content-parts:user", "content-parts:tool"}), 2u);
  EXPECT_EQ(joined({"content-parts:user", "content-parts"}), 3u);
  EXPECT_EQ(joined({"content-parts", "content-parts:user"}), 3u);
}

}  // namespace
}  // namespace parlance
