// The escapes of a JSON string, for both readers, and for those of replies (reply/scan/json_scanner.h).
//
// Source: RFC 8259, section 7, and CPython 3.11 Modules/_json.c (scanstring_unicode).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/ascii.h"

namespace parlance::json_escape {

constexpr std::array<char, 256> make_meanings() {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  std::array<char, 256> table{};
  for (std::size_t i = 0; i < kLetters.size(); ++i) table[static_cast<unsigned char>(kLetters[i])] = kMeanings[i];
  return table;
}
inline constexpr std::array<char, 256> kMeanings = make_meanings();

/// The character that a letter after a backslash stands for; 0 for none.
inline char unescaped(char letter) { return kMeanings[static_cast<unsigned char>(letter)]; }

/// The same, but the letter itself for none.
inline char unescaped_or_same(char letter) { return unescaped(letter) != 0 ? unescaped(letter) : letter; }
/// May the letter stand after a backslash?
inline bool is_escape(char letter) { return letter == 'u' || unescaped(letter) != 0; }

inline bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
inline bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }
inline std::uint32_t join_surrogates(std::uint32_t high, std::uint32_t low) {
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

}  // namespace parlance::json_escape
