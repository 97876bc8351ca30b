// Limits of renders by their words, those of the command line's options: max_steps for --max-steps.
#pragma once
#include <nanobind/nanobind.h>

#include <string>

#include "parlance/limits.h"

/// Their part of a signature, of arguments that have defaults.
#define PARLANCE_LIMIT_WORDS                                                                                           \
  "max_steps: int | None = None, max_output: int | None = None, max_memory: int | None = None, max_depth: int | None " \
  "= None"

namespace parlance::python {

namespace nb = nanobind;

/// False for a name that is no limit's. None leaves the limit as it is. Raises TypeError for what is no int, ValueError
/// for one that is no such limit.
bool set_limit(Limits& limits, const std::string& name, nb::handle value);
/// All words.
nb::tuple limit_names();
/// All of them by their words.
nb::dict limits_to_dict(const Limits& limits);

}  // namespace parlance::python
