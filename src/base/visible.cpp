// See visible.h.
#include "base/visible.h"

#include "base/unicode.h"
#include "base/utf8.h"

namespace parlance {

char32_t visible(char32_t c) {
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7F) return 0x2421;
  const bool is_shown = unicode::is_printable(c) || (unicode::is_space(c) && c > 0xA0 && c != 0x2028 && c != 0x2029);
  return is_shown ? c : utf8::kReplacement;
}

void append_visible(std::string& out, std::string_view text, std::string_view kept) {
  const char* const end = text.data() + text.size();
  for (const char* p = text.data(); p < end;) {
    const utf8::Decoded next = utf8::decode(p, end);
    p += next.size;
    const bool stays = next.code_point < 0x80 && kept.find(static_cast<char>(next.code_point)) != kept.npos;
    utf8::append(out, stays ? next.code_point : visible(next.code_point));
  }
}

}  // namespace parlance
