// Pieces of a prompt view the conversation.
#include "parlance/parlance.h"

std::size_t count(const parlance::Template& chat_template, parlance::Workspace& workspace) {
#ifdef WRONG
  auto pieces = chat_template.render_pieces(parlance::Conversation(), {}, workspace);
#else
  const parlance::Conversation chat;
  auto pieces = chat_template.render_pieces(chat, {}, workspace);
#endif
  return pieces ? pieces->size() : 0;
}
