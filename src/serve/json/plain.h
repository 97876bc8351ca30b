// JSON as one text, however it was written.
#pragma once
#include <string>

#include "parlance/value.h"

namespace parlance::serve {

/// JSON that is equal for values that are the same: an object's members by their names, and a number that is whole
/// without a point or an exponent, as JavaScript writes back the 1.0 that it read. Recursion: as deep as the value.
std::string plain_json(Value value);
/// The shortest text of a number that gives it again. `value` is finite: JSON has no others.
std::string real_json(double value);

}  // namespace parlance::serve
