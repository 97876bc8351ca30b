// The types of JSON as bits, and the words that schemas have for them. Begin reading at type_named.
#pragma once
#include <cstdint>
#include <string_view>

namespace parlance::schema {

using Types = std::uint8_t;
inline constexpr Types kString = 1, kInteger = 2, kFraction = 4, kBoolean = 8, kObject = 16, kArray = 32, kNull = 64;
inline constexpr Types kNumber = kInteger | kFraction;
inline constexpr Types kAnyType = 127;

/// What the value of "type" means, Python's words for it too, which tools made from Python functions have; 0 for any
/// other word.
Types type_named(std::string_view name);

}  // namespace parlance::schema
