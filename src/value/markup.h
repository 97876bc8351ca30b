// Markup: HTML-safe strings as the markupsafe package has them, for autoescape and the escape
// filters.
#pragma once
#include "value/runtime.h"

namespace parlance {

/// markupsafe.escape(v): Markup of str(v) with & < > ' and the double quote replaced; Markup is
/// returned as it is. Untouched runs keep their origin.
Value escape_html(Runtime& rt, Value v);
/// The same string with the Markup flag set or cleared.
inline Value with_markup(Value s, bool markup) {
  s.flags = markup ? s.flags | Value::kMarkup : s.flags & ~Value::kMarkup;
  return s;
}

/// html.unescape(s), a plain string: entities and character references as the characters they name.
Value unescape_html(Runtime& rt, Value s);
/// Markup.striptags(), a plain string: without comments and tags, white space runs as one space,
/// then unescaped.
Value strip_tags(Runtime& rt, Value s);

}  // namespace parlance
