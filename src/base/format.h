// format(): a text from a pattern in fmt's language. fmt is compiled in one place (format.cpp): whole, it costs every
// file that formats something seconds of the compiler's time.
#pragma once
#if __has_include(<fmt/base.h>)  // fmt 11 and later: there core.h is all of fmt
#include <fmt/base.h>
#else
#include <fmt/core.h>
#endif

#include <string>

namespace parlance {

std::string format_arguments(fmt::string_view pattern, fmt::format_args arguments);

/// The pattern with the arguments in place of its braces; a pattern that does not fit them does not compile.
template <typename... Args>
std::string format(fmt::format_string<const Args&...> pattern, const Args&... arguments) {
  return format_arguments(pattern, fmt::make_format_args(arguments...));
}

}  // namespace parlance
