// What both ways of showing origins share: which hue, and text that can be shown at all.
#include "cli/segments.h"

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

char32_t picture(char32_t c) {
  if (c == '\n' || c == '\t') return c;
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7F) return 0x2421;
  if ((c >= 0x80 && c < 0xA0) || utf8::is_surrogate(c)) return utf8::kReplacement;
  return c;
}

}  // namespace

void append_segment(std::string& out, std::string_view text, bool escape_html) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const utf8::Decoded next = utf8::decode(p, end);
    p += next.size;
    const std::string_view escaped = escape_html ? html_escape(next.code_point) : std::string_view();
    if (escaped.empty())
      utf8::append(out, picture(next.code_point));
    else
      out += escaped;
  }
}

}  // namespace parlance::cli
