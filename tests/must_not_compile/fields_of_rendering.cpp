// A Rendering is filled by a render alone.
#include "parlance/parlance.h"

std::size_t size(const parlance::Rendering& rendering) {
#ifdef WRONG
  return rendering.size_;
#else
  return rendering.text().size();
#endif
}
