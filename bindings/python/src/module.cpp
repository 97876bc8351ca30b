// The module parlance._core: each file binds its classes.
#include <exception>
#include <typeinfo>

#include "parlance/transformers.h"
#include "parlance/version.h"
#include "prompt.h"
#include "render_limits.h"

namespace nb = nanobind;

NB_MODULE(_core_of_main, module) {
  // Templates and tokenizers that Python keeps until it ends are no leaks.
  nb::set_leak_warnings(false);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_cast&) {
      PyErr_SetString(PyExc_TypeError, parlance::python::kFailedCast);
    }
  });
  module.attr("VERSION") = PARLANCE_VERSION;
  nb::dict releases;
  for (const parlance::TransformersRelease& release : parlance::transformers_releases()) {
    nb::dict facts;
    facts["drops_null_members"] = release.drops_null_members;
    facts["takes_objects"] = release.takes_objects;
    facts["masks_overlaps"] = release.masks_overlaps;
    releases[nb::str(release.name.data(), release.name.size())] = facts;
  }
  module.attr("RELEASES") = releases;  // of transformers, oldest first: the facts that Python sees
  nb::list kinds;
  for (const std::string_view name : parlance::reply_kind_names().subspan(1))
    kinds.append(nb::str(name.data(), name.size()));
  module.attr("REPLY_KINDS") = nb::tuple(kinds);            // without that of what is no part of a reply
  module.attr("LIMITS") = parlance::python::limit_names();  // of renders, in the words of a Template's factories
  parlance::python::bind_grammars(module);
  parlance::python::bind_templates(module);
  parlance::python::bind_renderings(module);
  parlance::python::bind_tokens(module);
  parlance::python::bind_reply_formats(module);
  parlance::python::bind_reply_messages(module);
  parlance::python::bind_replies(module);
  parlance::python::bind_findings(module);
  parlance::python::bind_prefix(module);
  parlance::python::bind_apis(module);
  parlance::python::bind_session(module);
  parlance::python::bind_agent(module);
  parlance::python::bind_calls(module);
}

/// The module, of the main interpreter alone, as CPython itself has it from 3.12 on. Before, it would load the module
/// into a sub-interpreter too, where nanobind would take its classes away from the others.
extern "C" NB_EXPORT PyObject* PyInit__core() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return PyInit__core_of_main();
  PyErr_SetString(PyExc_ImportError, "module parlance._core does not support loading in subinterpreters");
  return nullptr;
}
