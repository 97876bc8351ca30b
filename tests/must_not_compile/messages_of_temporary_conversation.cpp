// Messages are the Conversation's.
#include "parlance/parlance.h"

parlance::Conversation chat();

std::size_t count() {
#ifdef WRONG
  return chat().messages().items().size();
#else
  const parlance::Conversation conversation = chat();
  return conversation.messages().items().size();
#endif
}
