// Equality of JSON.
#pragma once
#include "parlance/value.h"

namespace parlance {

/// Whether both are the same JSON: members of objects have no order, and 1 is 1.0 and not true. What is no JSON, such
/// as a NaN, is not even the same as itself. Recursion: as deep as the values.
bool same_json(Value a, Value b);

}  // namespace parlance
