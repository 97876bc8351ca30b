// Compiling a template for nothing is a mistake too.
#include "parlance/parlance.h"

void compile() {
#ifdef WRONG
  parlance::Template::compile("{{ x }}");
#else
  (void)parlance::Template::compile("{{ x }}").has_value();
#endif
}
