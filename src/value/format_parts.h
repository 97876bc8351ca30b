// What the two formatting languages share: cutting, filling, bases of integers.
//
// Private to value/format_spec.cpp, value/format_percent.cpp and the str methods.
// Begin reading at first_characters.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "value/runtime.h"
#include "value/string.h"

namespace parlance {

/// The first `count` code points of `s`, sharing its bytes.
Value first_characters(Runtime& rt, Value s, std::int64_t count);
/// Appends `unit` `count` times as computed text; false (recorded) when it would not fit.
bool append_repeated(Runtime& rt, StringBuilder& out, std::string_view unit, std::uint64_t count);
/// ascii(): `repr` with each non-ASCII character as \xhh, \uhhhh or \Uhhhhhhhh; the rest keeps its
/// pieces.
Value to_ascii(Runtime& rt, Value repr);
/// The base that a format code such as 'x' asks for; 10 unless it is one of b, o, x, X.
int integer_base(char32_t code);
/// "0x" for 'x'; empty for the decimal codes.
std::string_view integer_prefix(char32_t code);
void uppercase(std::string& ascii);
/// `number` in lower case hexadecimal digits.
std::string hex_digits(std::uint32_t number);

}  // namespace parlance
