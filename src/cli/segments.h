// The spans of a rendering as people see them: coloured text on a terminal (--color) or a page
// (--html).
#pragma once
#include <string>
#include <string_view>

#include "parlance/template.h"
#include "render/hue.h"

namespace parlance::cli {

/// Control characters as pictures (U+2400 …), lone surrogates as U+FFFD; newlines and tabs stay. Characters that show
/// nothing or turn the order of others are ‹U+202E›; not so a joiner within an emoji or a word of a script that has
/// them. `before` is the character in front of `text`, if it is a piece of one.
void append_segment(std::string& out, std::string_view text, bool escape_html, char32_t before = 0);

std::string render_color(const Conversation& conversation, const Rendering& rendering);
std::string render_html(const Conversation& conversation, const Rendering& rendering, std::string_view title);

}  // namespace parlance::cli
