// Formatting as CPython does it: the `%` of strings and the format mini-language.
#pragma once
#include <string_view>

#include "value/runtime.h"

namespace parlance {

/// format % arguments: a tuple gives several, a mapping answers %(name)s. Pieces of `format` and of string
/// arguments keep their origin. A Markup format escapes its arguments (markupsafe).
Value format_percent(Runtime& rt, Value format, Value arguments);

/// format(value, spec): [[fill]align][sign][z][#][0][width][grouping][.precision][type] for str, int, float, bool;
/// other types take only an empty spec (TypeError "unsupported format string passed to list.__format__").
Value format_value(Runtime& rt, Value value, std::string_view spec);

}  // namespace parlance
