// A Conversation owns what its values view, so it moves and does not copy.
#include <utility>

#include "parlance/parlance.h"

parlance::Conversation pass(parlance::Conversation& conversation) {
#ifdef WRONG
  return conversation;
#else
  return std::move(conversation);
#endif
}
