// pprint.pformat(v) of Python: what the pprint filter prints.
#pragma once
#include "value/runtime.h"

namespace parlance::jinja {

/// `v` as Python's pprint prints it at 80 columns with keys sorted; pieces of texts keep their
/// origin.
Value pretty_print(Runtime& rt, Value v);

}  // namespace parlance::jinja
