// What characters are and how their case changes, exactly as CPython 3.11 (Unicode 14) has it.
//
// First the rules for one code point, then the str methods over whole texts. Texts are generalised
// UTF-8 (see utf8.h). ASCII is answered inline from one table; the rest is in unicode.cpp
// (characters) and unicode_case.cpp (texts).
// Source of the rules: CPython 3.11 Objects/unicodectype.c, Objects/unicodeobject.c and
// Tools/unicode/makeunicodedata.py. Begin reading at kAsciiClasses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace parlance::unicode {

namespace detail {

enum AsciiClass : uint8_t {
  kLower = 1,
  kUpper = 2,
  kDigit = 4,
  kSpace = 8,  // str.isspace counts the separators U+001C..U+001F as space too
  kPrintable = 16,
  kUnderscore = 32,
  kLineBreak = 64,
  kCaseIgnorable = 128,
};
inline constexpr uint8_t kAlpha = kLower | kUpper;

constexpr uint8_t ascii_classes_of(char c) {
  const auto within = [c](char first, char last) { return c >= first && c <= last; };
  uint8_t classes = 0;
  if (within('a', 'z')) classes |= kLower;
  if (within('A', 'Z')) classes |= kUpper;
  if (within('0', '9')) classes |= kDigit;
  if (within('\t', '\r') || within('\x1C', ' ')) classes |= kSpace;
  if (within(' ', '~')) classes |= kPrintable;
  if (c == '_') classes |= kUnderscore;
  if (within('\n', '\r') || within('\x1C', '\x1E')) classes |= kLineBreak;
  if (c == '\'' || c == '.' || c == ':' || c == '^' || c == '`') classes |= kCaseIgnorable;
  return classes;
}

inline constexpr std::array<uint8_t, 128> kAsciiClasses = [] {
  std::array<uint8_t, 128> classes{};
  for (size_t i = 0; i < classes.size(); ++i) classes[i] = ascii_classes_of(static_cast<char>(i));
  return classes;
}();

constexpr bool is_ascii(char32_t c) { return c < 0x80; }
constexpr bool ascii_is(char32_t c, uint8_t any_of) { return kAsciiClasses[c] & any_of; }

// The same questions about code points from U+0080 on.
bool wide_is_alpha(char32_t c);
bool wide_is_numeric(char32_t c);
bool wide_is_lower(char32_t c);
bool wide_is_upper(char32_t c);
bool wide_is_title(char32_t c);
bool wide_is_cased(char32_t c);
bool wide_is_space(char32_t c);
bool wide_is_printable(char32_t c);
bool wide_is_case_ignorable(char32_t c);
bool wide_is_xid_start(char32_t c);
bool wide_is_xid_continue(char32_t c);
int wide_decimal_value(char32_t c);
int wide_digit_value(char32_t c);

}  // namespace detail

/// The value of a decimal digit of any script, as int('٣') reads it; -1 if `c` is none.
inline int decimal_value(char32_t c) {
  if (!detail::is_ascii(c)) return detail::wide_decimal_value(c);
  return detail::ascii_is(c, detail::kDigit) ? static_cast<int>(c - '0') : -1;
}

/// The value of a digit, decimal or not (superscripts, circled digits); -1 if `c` is none.
inline int digit_value(char32_t c) { return detail::is_ascii(c) ? decimal_value(c) : detail::wide_digit_value(c); }

// The rules that the str methods of the same name apply to each character. A value beyond U+10FFFF
// answers as an unassigned code point does.

inline bool is_alpha(char32_t c) {
  return detail::is_ascii(c) ? detail::ascii_is(c, detail::kAlpha) : detail::wide_is_alpha(c);
}
inline bool is_decimal(char32_t c) { return decimal_value(c) >= 0; }
inline bool is_digit(char32_t c) { return digit_value(c) >= 0; }
inline bool is_numeric(char32_t c) {
  return detail::is_ascii(c) ? detail::ascii_is(c, detail::kDigit) : detail::wide_is_numeric(c);
}
/// CPython asks for a letter, decimal, digit or numeric; every digit is numeric.
inline bool is_alnum(char32_t c) { return is_alpha(c) || is_numeric(c); }
/// The property Lowercase, which some marks and symbols have too.
inline bool is_lower(char32_t c) {
  return detail::is_ascii(c) ? detail::ascii_is(c, detail::kLower) : detail::wide_is_lower(c);
}
/// The property Uppercase, which some symbols have too.
inline bool is_upper(char32_t c) {
  return detail::is_ascii(c) ? detail::ascii_is(c, detail::kUpper) : detail::wide_is_upper(c);
}
/// A titlecase letter such as U+01C5, not an uppercase one.
inline bool is_title(char32_t c) { return !detail::is_ascii(c) && detail::wide_is_title(c); }
/// What str.isspace, str.strip and str.split take for white space.
inline bool is_space(char32_t c) {
  return detail::is_ascii(c) ? detail::ascii_is(c, detail::kSpace) : detail::wide_is_space(c);
}
/// What repr() leaves unescaped.
inline bool is_printable(char32_t c) {
  return detail::is_ascii(c) ? detail::ascii_is(c, detail::kPrintable) : detail::wide_is_printable(c);
}
/// The property Cased: what makes str.title continue in lower case.
inline bool is_cased(char32_t c) {
  return detail::is_ascii(c) ? detail::ascii_is(c, detail::kAlpha) : detail::wide_is_cased(c);
}
/// The property Case_Ignorable: what a final sigma looks past.
inline bool is_case_ignorable(char32_t c) {
  return detail::is_ascii(c) ? detail::ascii_is(c, detail::kCaseIgnorable) : detail::wide_is_case_ignorable(c);
}
/// What may begin an identifier, apart from the underscore.
inline bool is_xid_start(char32_t c) {
  return detail::is_ascii(c) ? detail::ascii_is(c, detail::kAlpha) : detail::wide_is_xid_start(c);
}
inline bool is_xid_continue(char32_t c) {
  constexpr uint8_t kContinue = detail::kAlpha | detail::kDigit | detail::kUnderscore;
  return detail::is_ascii(c) ? detail::ascii_is(c, kContinue) : detail::wide_is_xid_continue(c);
}
/// Where str.splitlines cuts. "\r\n" is one break; that is for the caller to see.
inline bool is_line_break(char32_t c) {
  if (detail::is_ascii(c)) return detail::ascii_is(c, detail::kLineBreak);
  return c == 0x85 || c == 0x2028 || c == 0x2029;
}

// Full case mappings of one code point: they write one to three code points and return how many.
// What has no mapping is written unchanged. Context (final sigma) is for the functions on texts.

inline constexpr uint32_t kMaxMapping = 3;

uint32_t to_lower(char32_t c, char32_t out[kMaxMapping]);
uint32_t to_upper(char32_t c, char32_t out[kMaxMapping]);
uint32_t to_title(char32_t c, char32_t out[kMaxMapping]);
uint32_t to_fold(char32_t c, char32_t out[kMaxMapping]);

/// NFKC of well-formed text, which is how Python reads identifiers; the text itself where it is malformed.
std::string nfkc(std::string_view text);

// str.lower, upper, title, capitalize, swapcase and casefold. The result is appended to `out`,
// which must not own the bytes of `text`. It has at most three times as many code points.

void append_lower(std::string& out, std::string_view text);
void append_upper(std::string& out, std::string_view text);
void append_title(std::string& out, std::string_view text);
void append_capitalize(std::string& out, std::string_view text);
void append_swapcase(std::string& out, std::string_view text);
void append_casefold(std::string& out, std::string_view text);

// str.isalpha and its kind. As in Python, the empty text is ASCII and printable and nothing else.

bool str_is_alpha(std::string_view text);
bool str_is_decimal(std::string_view text);
bool str_is_digit(std::string_view text);
bool str_is_numeric(std::string_view text);
bool str_is_alnum(std::string_view text);
bool str_is_lower(std::string_view text);
bool str_is_upper(std::string_view text);
bool str_is_title(std::string_view text);
bool str_is_space(std::string_view text);
bool str_is_printable(std::string_view text);
bool str_is_identifier(std::string_view text);
bool str_is_ascii(std::string_view text);

}  // namespace parlance::unicode
