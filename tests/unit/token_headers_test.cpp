// The examples of tokenizer.h, tokens.h and session.h, as they stand there.
#include <gtest/gtest.h>

#include <cstdio>

#include "parlance/session.h"

namespace {

std::vector<int> my_encode(std::string_view run) { return {run.begin(), run.end()}; }
std::string my_piece(int id) {
  return id == 1 ? "<|im_start|>" : id == 2 ? "<|im_end|>" : std::string(1, static_cast<char>(id));
}
std::vector<parlance::TokenId> generate(std::span<const parlance::TokenId>) { return {'H', 'o', 2}; }
std::size_t gone_on = 0;
void go_on_with(const std::vector<parlance::TokenId>& ids) { gone_on = ids.size(); }

TEST(TokenHeaders, ExamplesHold) {
  parlance::CallbackTokenizer tokenizer(
      {.added = {{.id = 1, .text = "<|im_start|>", .special = true}, {.id = 2, .text = "<|im_end|>", .special = true}},
       .encode =
           [&](std::string_view run, std::vector<parlance::TokenId>& ids) {
             for (parlance::TokenId id : my_encode(run)) ids.push_back(id);  // with special tokens switched off
             return parlance::Result<void>();
           },
       .token_text = [&](parlance::TokenId id) { return my_piece(id); }});

  const parlance::Template chat_template = *parlance::Template::compile(
      "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
      "{% if add_generation_prompt %}<|im_start|>{% endif %}");
  parlance::Conversation chat;
  ASSERT_TRUE(chat.add({.role = "user", .content = "Hi"}));
  auto prompt = chat_template.render(chat, {.want_assistant = true});
  auto tokens = parlance::tokenize(*prompt, chat, tokenizer);
  EXPECT_EQ(tokens->ids, (std::vector<parlance::TokenId>{1, 'H', 'i', 2, 1}));

  const std::string reply = "Ho";
  auto session = parlance::Session::begin(chat_template, tokenizer, std::move(chat));
  session->append_sampled(generate(session->ids()));
  const std::vector<parlance::Message> news = {{.role = "assistant", .content = reply},
                                               {.role = "user", .content = "And?"}};
  auto more = session->extend(news);
  if (more)
    go_on_with(more->ids);  // ids() is what was there, verbatim, then these
  else
    std::puts(more.error().display().c_str());  // the template rewrites the past: where, and which input
  EXPECT_EQ(gone_on, 7u);
}

}  // namespace
