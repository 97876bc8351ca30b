// Begin reading at append_one_line.
#include "base/one_line.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace parlance {

namespace {

/// Where the next byte stands that is not of ASCII's characters, or is U+007F; the size: nowhere.
std::size_t next_unusual(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u, kHighBits = 0x80 * kOnes;
  for (std::uint64_t bytes = 0; text.size() - at >= sizeof bytes; at += sizeof bytes) {
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    if (((((bytes & ~kHighBits) + kOnes) | bytes) & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x7f) ++at;
  return at;
}

/// The character that begins there, of those that are escaped, and how many bytes it has; 0: it is another one.
unsigned escaped_at(std::string_view text, std::size_t at, std::size_t& size) {
  const auto byte = [&](std::size_t ahead) {
    return at + ahead < text.size() ? static_cast<unsigned char>(text[at + ahead]) : 0U;
  };
  size = byte(0) == 0x7f ? 1 : byte(0) == 0xc2 ? 2 : 3;
  if (size == 1) return 0x7f;
  if (size == 2) return byte(1) >= 0x80 && byte(1) <= 0x9f ? byte(1) : 0;
  if (byte(0) == 0xe2 && byte(1) == 0x80 && (byte(2) == 0xa8 || byte(2) == 0xa9)) return 0x2000 + (byte(2) & 0x3fU);
  return 0;
}

}  // namespace

void append_one_line(std::string& out, std::string_view json) {
  std::size_t from = 0;
  for (std::size_t at = next_unusual(json, 0); at < json.size(); at = next_unusual(json, at)) {
    std::size_t size = 1;
    const unsigned character = escaped_at(json, at, size);
    if (character == 0) {
      ++at;
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", character);
    out.append(json.substr(from, at - from)).append(escape);
    from = at += size;
  }
  out.append(json.substr(from));
}

std::string one_line(std::string_view json) {
  std::string made;
  append_one_line(made, json);
  return made;
}

}  // namespace parlance
