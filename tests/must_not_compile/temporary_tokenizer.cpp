// A Session goes on using its tokenizer.
#include <utility>

#include "parlance/parlance.h"

std::size_t begin(parlance::Template chat_template, parlance::CallbackTokenizer tokenizer,
                  parlance::Conversation chat) {
#ifdef WRONG
  auto session = parlance::Session::begin(chat_template, std::move(tokenizer), std::move(chat));
#else
  auto session = parlance::Session::begin(chat_template, tokenizer, std::move(chat));
#endif
  return session ? session->ids().size() : 0;
}
