// What both ways of showing origins share: which hue, and text that can be shown at all.
#include "cli/segments.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/utf8.h"

namespace parlance::cli {
namespace {

std::string_view html_escape(char32_t c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    default: return {};
  }
}

struct Range {
  char32_t first, last;
};

/// What shows nothing, or changes the direction or the line: a text with it may look like another one.
constexpr Range kHidden[] = {
    {0xAD, 0xAD},     {0x34F, 0x34F},   {0x61C, 0x61C},     {0x115F, 0x1160},   {0x17B4, 0x17B5},  {0x180B, 0x180F},
    {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},   {0x3164, 0x3164},   {0xFE00, 0xFE0F},  {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};

bool is_hidden(char32_t c) {
  return c >= 0xAD && std::any_of(std::begin(kHidden), std::end(kHidden),
                                  [c](const Range& range) { return c >= range.first && c <= range.last; });
}

/// Belongs it to the character before? Scripts from Arabic to Sinhala have joiners, and signs and emojis have both.
bool joins(char32_t before, char32_t c) {
  constexpr char32_t kNonJoiner = 0x200C, kJoiner = 0x200D, kEmoji = 0xFE0F;
  const bool is_sign = before >= 0x2190 && !is_hidden(before);
  if (c >= 0xFE00 && c <= kEmoji) return is_sign;
  if (c != kNonJoiner && c != kJoiner) return false;
  return (before >= 0x620 && before < 0xE00) || is_sign || (c == kJoiner && before == kEmoji);
}

void append_number(std::string& out, char32_t c) {
  char text[24];
  std::snprintf(text, sizeof text, "‹U+%04X›", static_cast<unsigned>(c));
  out += text;
}

char32_t picture(char32_t c) {
  if (c == '\n' || c == '\t') return c;
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7F) return 0x2421;
  if ((c >= 0x80 && c < 0xA0) || utf8::is_surrogate(c)) return utf8::kReplacement;
  return c;
}

}  // namespace

void append_segment(std::string& out, std::string_view text, bool escape_html, char32_t before) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const utf8::Decoded next = utf8::decode(p, end);
    p += next.size;
    const std::string_view escaped = escape_html ? html_escape(next.code_point) : std::string_view();
    if (!escaped.empty())
      out += escaped;
    else if (is_hidden(next.code_point) && !joins(before, next.code_point))
      append_number(out, next.code_point);
    else
      utf8::append(out, picture(next.code_point));
    before = next.code_point;
  }
}

}  // namespace parlance::cli
