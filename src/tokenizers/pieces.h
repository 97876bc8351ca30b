// How vocabularies write their pieces, and what a piece's text tells of it.
#pragma once
#include <string>
#include <string_view>

namespace parlance {

/// What pieces write for a blank.
inline constexpr std::string_view kBlank = "\u2581";
/// What stands for bytes that are no UTF-8.
inline constexpr std::string_view kReplacement = "\uFFFD";

/// The piece with blanks in place of kBlank.
std::string with_blanks(std::string_view piece);
/// One letter, digit, mark, or sign of punctuation: added so that it is never merged (as models do with digits), which
/// says nothing about turns.
bool is_plain_character(std::string_view text);
/// Is it written like a control token, with or without a blank in front?
bool is_marker(std::string_view text);

}  // namespace parlance
