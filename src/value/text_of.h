// str() and repr() of every value, as CPython prints them, with pieces shared where the bytes are unchanged.
#pragma once
#include "value/runtime.h"
#include "value/string.h"

namespace parlance {

/// str(v): strings are themselves, undefined is "", the rest as Python prints it (True, None, 1.5, [1, 'a'], {'k': 2}).
Value to_text(Runtime& rt, Value v);
/// repr(v).
Value to_repr(Runtime& rt, Value v);

}  // namespace parlance
