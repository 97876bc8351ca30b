// A view of a prompt refers to its rendering.
#include "parlance/parlance.h"

parlance::Rendering rendered();

bool differ(const parlance::Conversation& chat) {
#ifdef WRONG
  const parlance::PromptView view{.rendering = rendered(), .conversation = chat};
#else
  const parlance::Rendering rendering = rendered();
  const parlance::PromptView view{.rendering = rendering, .conversation = chat};
#endif
  return parlance::compare_prompts(view, view).has_value();
}
