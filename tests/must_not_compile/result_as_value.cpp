// A Result is no value: it has to be opened first.
#include "parlance/parlance.h"

parlance::Template first(parlance::Result<parlance::Template> compiled, parlance::Template otherwise) {
#ifdef WRONG
  (void)otherwise;
  return compiled;
#else
  return compiled ? *compiled : otherwise;
#endif
}
