// JSON on one line for readers that break lines at more than line feeds.
#pragma once
#include <string>
#include <string_view>

namespace parlance {

/// Appends the JSON with an escape (\u2028) for each character that readers take for the end of a line (U+0085, U+2028,
/// U+2029), as Python's str.splitlines() does, or for a control character (U+007F to U+009F). Outside of strings there
/// are none.
void append_one_line(std::string& out, std::string_view json);
/// The same as a text of its own.
std::string one_line(std::string_view json);

}  // namespace parlance
