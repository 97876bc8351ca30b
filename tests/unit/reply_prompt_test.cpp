// reply_prompt(): where a reply begins, whatever stands in messages.
#include "parlance/reply_prompt.h"

#include <gtest/gtest.h>

#include "parlance/reply.h"

namespace parlance {
namespace {

/// Opens the turn only where it is asked to, with the pair of a turn that is not to think; goes on behind a tool's
/// result.
constexpr const char* kTemplate =
    "{% for m in messages %}{% if m.role == 'tool' %}<result>{{ m.content }}</result>{% elif m.role == 'user' "
    "%}<user>{{ m.content }}"
    "{% else %}<bot>{% if m.reasoning_content %}<think>{{ m.reasoning_content }}{% if m.content %}</think>{% endif %}"
    "{% endif %}{{ m.content }}{% if not loop.last %}<end>{% endif %}{% endif %}{% endfor %}"
    "{% if add_generation_prompt and messages[-1].role == 'user' %}<bot><think>{% if enable_thinking is false "
    "%}</think>{% endif %}{% endif %}";
constexpr const char* kThinkFormat =
    R"({"prompt": "<bot><think>", "reasoning": {"open": "<think>", "close": "</think>"}, "end": ["<end>"]})";

std::string prompt_of(const char* chat_template, const char* request, const char* known = kThinkFormat) {
  const auto format = ReplyFormat::from_json(known);
  const auto conversation = Conversation::from_json(request);
  const auto prompt = reply_prompt(*Template::compile(chat_template), *conversation, {}, *format);
  return prompt ? *prompt : std::string(prompt.error().message());
}

TEST(ReplyPrompt, IsWhatAskingForTheTurnAdds) {
  EXPECT_EQ(prompt_of(kTemplate, R"({"messages": [{"role": "user", "content": "q"}]})"), "<bot><think>");
  EXPECT_EQ(
      prompt_of(
          kTemplate,
          R"({"messages": [{"role": "user", "content": "q"}], "chat_template_kwargs": {"enable_thinking": false}})"),
      "<bot><think></think>");
}

TEST(ReplyPrompt, IsEmptyWhereNoTurnIsOpened) {
  EXPECT_EQ(
      prompt_of(kTemplate, R"({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"},
                                                   {"role": "tool", "content": "say <bot><think>"}]})"),
      "");
}

TEST(ReplyPrompt, OfAMessageThatGoesOnBeginsAtItsHeader) {
  const auto goes_on = [](const std::string& message) {
    return prompt_of(kTemplate, (R"({"messages": [{"role": "user", "content": "<bot><think>"}, )" + message +
                                 R"(], "continue_final_message": true})")
                                    .c_str());
  };
  EXPECT_EQ(goes_on(R"({"role": "assistant", "content": "An"})"), "<bot>An");
  EXPECT_EQ(goes_on(R"({"role": "assistant", "content": "", "reasoning_content": "I "})"), "<bot><think>I ");
  EXPECT_EQ(goes_on(R"({"role": "assistant", "content": "An", "reasoning_content": "I "})"),
            "<bot><think>I </think>An");
  EXPECT_EQ(goes_on(R"({"role": "assistant", "content": "<bot><think>"})"), "<bot><bot><think>");
}

/// The header of every turn opens reasoning: only the message tells whether reasoning goes on or an answer.
TEST(ReplyPrompt, OfReasoningThatTheHeaderOpens) {
  const auto goes_on = [](const std::string& message) {
    return prompt_of(
        "{% for m in messages %}<{{ m.role }}>\n{{ m.reasoning_content or m.content }}{% endfor %}",
        (R"({"messages": [{"role": "user", "content": "q"}, )" + message + R"(], "continue_final_message": true})")
            .c_str(),
        R"({"prompt": "<assistant>\nSteps:\n",
                         "reasoning": {"open": "<assistant>\n", "close": "\n[FINAL]\n"}})");
  };
  EXPECT_EQ(goes_on(R"({"role": "assistant", "content": "", "reasoning_content": "I "})"), "<assistant>\nI ");
  EXPECT_EQ(goes_on(R"({"role": "assistant", "content": "I "})"), "I ");
}

TEST(ReplyPrompt, OfATemplateThatAlwaysOpensTheTurn) {
  EXPECT_EQ(prompt_of("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}\n<bot><think>",
                      R"({"messages": [{"role": "user", "content": "<bot><think> "}]})"),
            "<bot><think>");
}

TEST(ReplyPrompt, FailsAsTheRenderDoes) {
  EXPECT_EQ(prompt_of("{{ raise_exception('no') }}", R"({"messages": []})"), "no");
}

}  // namespace
}  // namespace parlance
