// A pass that is refused is not run.
#include "parlance/parlance.h"

bool ask(parlance::ReadOptions& options) {
#ifdef WRONG
  options.passes.run("content-parts");
  return true;
#else
  return options.passes.run("content-parts").has_value();
#endif
}
