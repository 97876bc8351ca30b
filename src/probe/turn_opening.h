// Where an assistant's turn opens in the text of a prompt.
#pragma once
#include <cstddef>
#include <string_view>

#include "parlance/reply_format.h"

namespace parlance {

/// Where the last of what `format` opens turns with begins: from `begin` on, and before `header_end`. npos: there is
/// none.
std::size_t turn_opening(std::string_view text, std::size_t begin, std::size_t header_end, const ReplyFormat& format);
/// How many bytes of what `format` opens turns with the text begins with; 0: none.
std::size_t opening_size(std::string_view text, const ReplyFormat& format);

}  // namespace parlance
