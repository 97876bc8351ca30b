// What a byte of text is, where only ASCII counts; unicode.h asks the same of all characters.
//
// White space is JSON's: blank, tab, line feed, carriage return. Who means other white space (Python's, a form feed)
// says so where it is asked.
#pragma once
#include <string_view>

namespace parlance::ascii {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
/// May an identifier have it: a letter, a digit, or '_'?
constexpr bool is_word(char c) { return is_alnum(c) || c == '_'; }
/// Whether a name in small letters goes on with it: a capital begins a sentence.
constexpr bool goes_on_name(char c) { return is_word(c) && (c < 'A' || c > 'Z'); }
constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; }
/// The value of a hexadecimal digit; -1 for another character.
constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  const char low = lower(c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

constexpr std::string_view trimmed_left(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}
constexpr std::string_view trimmed_right(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}
constexpr std::string_view trimmed(std::string_view text) { return trimmed_left(trimmed_right(text)); }
/// Is there nothing but white space?
constexpr bool is_blank(std::string_view text) { return trimmed_left(text).empty(); }

}  // namespace parlance::ascii
