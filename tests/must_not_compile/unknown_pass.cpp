// A pass is one of those that there are.
#include "parlance/parlance.h"

void ask(parlance::ReadOptions& options) {
#ifdef WRONG
  options.passes.skip(parlance::Pass::parse_argument);
#else
  options.passes.skip(parlance::Pass::parse_arguments);
#endif
}
