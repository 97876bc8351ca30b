// strftime as Python's datetime has it for a moment without a time zone, in the C locale.
#pragma once
#include <string>
#include <string_view>

#include "value/runtime.h"

namespace parlance::jinja {

/// Appends `now` as `format` says. A limit may fail in `rt`: widths are chosen by the template.
void append_time(Runtime& rt, std::string& out, const CivilTime& now, std::string_view format);
/// The size of the part that a format begins with: a directive, or text up to the next one.
std::size_t first_time_part(std::string_view format);

}  // namespace parlance::jinja
