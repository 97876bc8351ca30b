// The end of a prompt refers to its rendering.
#include "parlance/parlance.h"

parlance::Rendering rendered();

std::size_t size() {
#ifdef WRONG
  const parlance::PromptPart part(rendered(), 0);
#else
  const parlance::Rendering rendering = rendered();
  const parlance::PromptPart part(rendering, 0);
#endif
  return part.rendering.text().size();
}
