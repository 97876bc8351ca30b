// A template is compiled.
#include "parlance/parlance.h"

bool has_tag() {
#ifdef WRONG
  auto compiled = parlance::Result<parlance::Template>(parlance::Template(nullptr));
#else
  auto compiled = parlance::Template::compile("{{ messages }}");
#endif
  return compiled.has_value() && compiled->has_generation_tag();
}
