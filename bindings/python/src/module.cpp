// The module parlance._core: each file binds its classes.
#include "parlance/version.h"
#include "prompt.h"

NB_MODULE(_core, module) {
  // Templates and tokenizers that Python keeps until it ends are no leaks.
  nanobind::set_leak_warnings(false);
  module.attr("VERSION") = PARLANCE_VERSION;
  parlance::python::bind_templates(module);
  parlance::python::bind_tokens(module);
  parlance::python::bind_replies(module);
  parlance::python::bind_session(module);
}
