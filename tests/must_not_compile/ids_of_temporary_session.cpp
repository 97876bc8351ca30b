// The ids are those of the Session, which is gone at the end of the line.
#include <utility>

#include "parlance/parlance.h"

std::size_t count(parlance::Template chat_template, const parlance::Tokenizer& tokenizer,
                  parlance::Conversation conversation) {
  auto session = parlance::Session::begin(std::move(chat_template), tokenizer, std::move(conversation));
  if (!session) return 0;
#ifdef WRONG
  auto ids = std::move(session).value().ids();
#else
  auto ids = session->ids();
#endif
  return ids.size();
}
