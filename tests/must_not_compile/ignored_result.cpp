// A failure cannot be overlooked: a Result that nobody looks at is an error under -Werror.
#include "parlance/parlance.h"

void read(parlance::Document& document) {
#ifdef WRONG
  document.parse("{}");
#else
  if (auto parsed = document.parse("{}"); !parsed) return;
#endif
}
