// Spans too are the Rendering's.
#include "parlance/parlance.h"

std::size_t count(parlance::Rendering rendering) {
#ifdef WRONG
  return std::move(rendering).spans().size();
#else
  return rendering.spans().size();
#endif
}
