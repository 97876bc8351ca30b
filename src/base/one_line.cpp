// Begin reading at one_line.
#include "base/one_line.h"

#include <cstdio>

namespace parlance {

namespace {

constexpr std::string_view kFirstBytes = "\x7f\xc2\xe2";

/// The character that begins there, of those that are escaped, and how many bytes it has; 0: it is another one.
unsigned escaped_at(std::string_view text, std::size_t at, std::size_t& size) {
  const auto byte = [&](std::size_t ahead) {
    return at + ahead < text.size() ? static_cast<unsigned char>(text[at + ahead]) : 0U;
  };
  size = byte(0) == 0x7f ? 1 : byte(0) == 0xc2 ? 2 : 3;
  if (size == 1) return 0x7f;
  if (size == 2) return byte(1) >= 0x80 && byte(1) <= 0x9f ? byte(1) : 0;
  if (byte(1) == 0x80 && (byte(2) == 0xa8 || byte(2) == 0xa9)) return 0x2000 + (byte(2) & 0x3fU);
  return 0;
}

}  // namespace

std::string one_line(std::string_view json) {
  std::string made;
  std::size_t from = 0;
  for (std::size_t at = json.find_first_of(kFirstBytes); at != json.npos; at = json.find_first_of(kFirstBytes, at)) {
    std::size_t size = 1;
    const unsigned character = escaped_at(json, at, size);
    if (character == 0) {
      ++at;
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", character);
    made.append(json.substr(from, at - from)).append(escape);
    from = at += size;
  }
  return made.append(json.substr(from));
}

}  // namespace parlance
