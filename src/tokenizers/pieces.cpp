// Texts of pieces; see pieces.h.
#include "tokenizers/pieces.h"

#include <utf8proc.h>

#include "base/utf8.h"

namespace parlance {

std::string with_blanks(std::string_view piece) {
  std::string out;
  for (std::size_t at = 0; at < piece.size();) {
    const bool blank = piece.substr(at, kBlank.size()) == kBlank;
    out += blank ? ' ' : piece[at];
    at += blank ? kBlank.size() : 1;
  }
  return out;
}

bool is_plain_character(std::string_view text) {
  const utf8::Decoded c = utf8::decode(text.data(), text.data() + text.size());
  if (c.size != text.size()) return false;
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c.code_point));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_PO;
}

bool is_marker(std::string_view text) {
  if (text.starts_with(' ')) text.remove_prefix(1);
  return text.size() > 4 && text.starts_with("<|") && text.ends_with("|>");
}

}  // namespace parlance
