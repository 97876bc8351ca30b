// The module parlance._core: each file binds its classes.
#include "parlance/transformers.h"
#include "parlance/version.h"
#include "prompt.h"

NB_MODULE(_core, module) {
  // Templates and tokenizers that Python keeps until it ends are no leaks.
  nanobind::set_leak_warnings(false);
  module.attr("VERSION") = PARLANCE_VERSION;
  nanobind::dict releases;
  for (const parlance::TransformersRelease& release : parlance::transformers_releases())
    releases[nanobind::str(release.name.data(), release.name.size())] = release.drops_null_members;
  module.attr("RELEASES") = releases;  // of transformers, oldest first: whether members that are None are dropped
  parlance::python::bind_grammars(module);
  parlance::python::bind_templates(module);
  parlance::python::bind_tokens(module);
  parlance::python::bind_replies(module);
  parlance::python::bind_findings(module);
  parlance::python::bind_prefix(module);
  parlance::python::bind_apis(module);
  parlance::python::bind_session(module);
}
