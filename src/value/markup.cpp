// Escaping for HTML as markupsafe 3 does it.
//
// Rules: markupsafe.escape: five characters, everything else untouched; Markup passes unchanged.
// The way back (entities to characters) is in unescape.cpp. Begin reading at escape_html.

#include "value/markup.h"

#include <array>

#include "value/string.h"
#include "value/text_of.h"

namespace parlance {
namespace {

constexpr std::string_view escape_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\'':
      return "&#39;";
    case '"':
      return "&#34;";
    default:
      return {};
  }
}

constexpr std::array<bool, 256> kEscaped = [] {
  std::array<bool, 256> escaped{};
  for (std::size_t c = 0; c < escaped.size(); ++c)
    escaped[c] = !escape_of(static_cast<char>(c)).empty();
  return escaped;
}();

std::size_t next_escaped(std::string_view bytes, std::size_t at) {
  while (at < bytes.size() && !kEscaped[static_cast<unsigned char>(bytes[at])]) ++at;
  return at;
}

}  // namespace

Value escape_html(Runtime& rt, Value v) {
  Value s = to_text(rt, v);
  if (s.is_invalid() || s.is_markup()) return s;
  const std::string_view bytes = text(rt, s);
  if (!rt.charge_bytes(bytes.size())) return Value::invalid();
  std::size_t at = next_escaped(bytes, 0);
  if (at == bytes.size()) return with_markup(s, true);
  StringBuilder out(rt);
  std::size_t from = 0;
  for (; at < bytes.size(); at = next_escaped(bytes, from)) {
    if (!rt.reserve(64)) return Value::invalid();
    out.append(s, from, at);
    out.append_derived(escape_of(bytes[at]), s, at);
    from = at + 1;
  }
  out.append(s, from, bytes.size());
  return out.finish(true);
}

}  // namespace parlance
