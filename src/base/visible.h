// Text of strangers for a terminal: what a terminal would obey rather than show is shown as a picture of itself.
#pragma once
#include <string>
#include <string_view>

namespace parlance {

/// U+2400 … for control characters, U+FFFD for whatever else has no shape (controls of direction, halves of surrogate
/// pairs, bytes that are no text).
char32_t visible(char32_t c);
/// Appends `text` as it is shown; the characters of `kept`, ASCII, stay as they are.
void append_visible(std::string& out, std::string_view text, std::string_view kept = "\t\n");

}  // namespace parlance
