// Joints: borders of trust at which a character may join the one before it, as an accent does its letter. What a
// normaliser makes of the two is neither the template's nor the user's, so the guarded encoding normalises them apart.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "parlance/tokenizer.h"

namespace parlance {

/// Is it a combining mark, which belongs to the character before it?
bool is_mark(char32_t c);

struct Joint {
  std::uint32_t begin = 0;  ///< of the character that is joined; marks that it has already lie between
  std::uint32_t at = 0;     ///< the border
  std::uint32_t end = 0;    ///< of the marks behind the border
};

/// The joints of `text`, ascending, at the ends of the trusted ranges. Joined is by Unicode: what begins behind the
/// border is a combining mark or goes on with the grapheme before it, as it stands or decomposed (NFKD), so that no
/// normalisation form composes or reorders across another border.
std::vector<Joint> joints(std::string_view text, const std::vector<ByteSpan>& trusted);

}  // namespace parlance
