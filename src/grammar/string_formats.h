// JSON Schema's `format`s as patterns.
#pragma once
#include <string_view>

namespace parlance::grammar {

/// The pattern of a format, a subset of what it allows; "" where there is none.
std::string_view pattern_of_format(std::string_view format);
/// A format that any text will do for, as far as a grammar is concerned.
bool is_free_format(std::string_view format);

}  // namespace parlance::grammar
