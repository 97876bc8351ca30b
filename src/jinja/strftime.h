// strftime as Python's datetime has it for a moment without a time zone, in the C locale.
#pragma once
#include <string>
#include <string_view>

#include "value/runtime.h"

namespace parlance::jinja {

/// Appends `now` as `format` says; false if the format ends with a lone '%' (Python: ValueError).
/// Asks `room` before each directive's text: a width is chosen by the template.
bool append_time(Runtime& rt, std::string& out, const CivilTime& now, std::string_view format);

}  // namespace parlance::jinja
