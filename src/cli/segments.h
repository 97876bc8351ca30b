// The spans of a rendering as people see them: coloured text on a terminal (--color) or a page
// (--html).
#pragma once
#include <string>
#include <string_view>

#include "parlance/template.h"
#include "render/hue.h"

namespace parlance::cli {

/// Control characters as pictures (U+2400 …), lone surrogates as U+FFFD; newlines and tabs stay.
void append_segment(std::string& out, std::string_view text, bool escape_html);

std::string render_color(const Conversation& conversation, const Rendering& rendering);
std::string render_html(const Conversation& conversation, const Rendering& rendering, std::string_view title);

}  // namespace parlance::cli
