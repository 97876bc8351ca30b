// The size of a character by its first byte.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>

namespace parlance {

/// Of the character that a text, which is not empty, begins with. What begins with 0xFF counts as one of four bytes.
inline std::uint32_t size_by_first(std::string_view text) {
  const auto byte = static_cast<std::uint8_t>(text[0]);
  const std::size_t size = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  return static_cast<std::uint32_t>(std::min(size, text.size()));  // the smaller one before it becomes a smaller type
}

}  // namespace parlance
