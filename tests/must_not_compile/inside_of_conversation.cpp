// What is inside of a conversation is parlance's own.
#include "parlance/parlance.h"

bool is_empty(const parlance::Conversation& chat) {
#ifdef WRONG
  return &chat.inside() == nullptr;
#else
  return chat.messages().items().empty();
#endif
}
