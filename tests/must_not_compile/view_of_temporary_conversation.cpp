// A view of a prompt refers to its conversation.
#include "parlance/parlance.h"

bool differ(const parlance::Rendering& rendering) {
#ifdef WRONG
  const parlance::PromptView view{.rendering = rendering, .conversation = parlance::Conversation()};
#else
  const parlance::Conversation chat;
  const parlance::PromptView view{.rendering = rendering, .conversation = chat};
#endif
  return parlance::compare_prompts(view, view).has_value();
}
