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

constexpr std::string_view entity_of(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '\'': return "&#39;";
    case '"': return "&#34;";
    default: return {};
  }
}

constexpr std::array<bool, 256> kEscaped = [] {
  std::array<bool, 256> escaped{};
  for (std::size_t c = 0; c < escaped.size(); ++c) escaped[c] = !entity_of(static_cast<char>(c)).empty();
  return escaped;
}();

std::size_t next_escaped(std::string_view bytes, std::size_t at) {
  while (at < bytes.size() && !kEscaped[static_cast<unsigned char>(bytes[at])]) ++at;
  return at;
}

/// One piece at a time, so that a rope is gone through once. `piece` is a leaf.
bool append_escaped(Runtime& rt, StringBuilder& out, Value piece) {
  const std::string_view bytes = {piece.data, piece.size};
  std::size_t from = 0;
  for (std::size_t at = next_escaped(bytes, 0); at < bytes.size(); at = next_escaped(bytes, from)) {
    if (!rt.reserve(64)) return false;
    out.append(piece, from, at);
    out.append_derived(entity_of(bytes[at]), piece, at);
    from = at + 1;
  }
  out.append(piece, from, bytes.size());
  return true;
}

bool needs_escapes(Value s) {
  bool found = false;
  for_each_piece(s, [&](std::string_view piece) { found = found || next_escaped(piece, 0) != piece.size(); });
  return found;
}

}  // namespace

Value escape_html(Runtime& rt, Value v) {
  Value s = to_text(rt, v);
  if (s.is_invalid() || s.is_markup()) return s;
  if (!rt.charge_bytes(s.size)) return Value::invalid();
  if (!needs_escapes(s)) return with_markup(s, true);
  StringBuilder out(rt);
  bool done = true;
  for_each_piece(s, [&](std::string_view piece) { done = done && append_escaped(rt, out, Value::view(piece)); });
  return done ? out.finish(true) : Value::invalid();
}

}  // namespace parlance
