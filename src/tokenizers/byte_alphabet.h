// The alphabet in which byte-level vocabularies write bytes: printable characters of Latin-1 stand for themselves, the
// other 68 bytes in order are the characters from U+0100 on. Source: GPT-2's bytes_to_unicode; piece.rs has the same
// for the crate.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace parlance {

inline std::optional<char> byte_of_letter(char32_t letter) {
  const bool own =
      (letter >= 0x21 && letter <= 0x7E) || (letter >= 0xA1 && letter <= 0xAC) || (letter >= 0xAE && letter <= 0xFF);
  if (own) return static_cast<char>(letter);
  if (letter >= 0x100 && letter <= 0x120) return static_cast<char>(letter - 0x100);
  if (letter >= 0x121 && letter <= 0x142) return static_cast<char>(letter - 0x121 + 0x7F);
  if (letter == 0x143) return static_cast<char>(0xAD);
  return std::nullopt;
}

/// The bytes that a text of the alphabet stands for; none for another text.
inline std::optional<std::string> bytes_of_letters(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (const char *at = text.data(), *end = at + text.size(); at < end;) {
    const utf8::Decoded letter = utf8::decode(at, end);
    const std::optional<char> byte = byte_of_letter(letter.code_point);
    if (!byte) return std::nullopt;
    bytes += *byte;
    at += letter.size;
  }
  return bytes;
}

}  // namespace parlance
