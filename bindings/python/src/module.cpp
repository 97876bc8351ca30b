// The module parlance._core: each file binds its classes.
#include "parlance/version.h"
#include "prompt.h"

NB_MODULE(_core, module) {
  module.attr("VERSION") = PARLANCE_VERSION;
  parlance::python::bind_templates(module);
  parlance::python::bind_tokens(module);
  parlance::python::bind_replies(module);
  parlance::python::bind_session(module);
}
