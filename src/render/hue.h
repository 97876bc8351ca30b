// The colours in which people see the spans of a prompt: on a terminal, on a page, in the inspector.
#pragma once
#include <cstdint>
#include <string_view>

#include "parlance/conversation.h"
#include "parlance/span.h"

namespace parlance {

/// What a span's colour says. The names are classes of pages, too.
enum class Hue : std::uint8_t { literal, control, system, user, assistant, tool, variable, computed };
std::string_view hue_name(Hue hue);
/// The hue of a span: of the template, or of the role of the message its bytes belong to.
Hue hue_of(const Conversation& conversation, const Span& span);

}  // namespace parlance
