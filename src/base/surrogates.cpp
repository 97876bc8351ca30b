// Puts U+FFFD in the place of halves of surrogate pairs. Begin reading at repair_json.
#include "base/surrogates.h"

#include <cstdint>

#include "base/ascii.h"
#include "base/utf8.h"

namespace parlance {
namespace {

constexpr std::size_t kEscapeSize = 6;  // of \uXXXX

/// The unit of the escape that the text begins with; 0: it begins with none.
std::uint32_t escaped_unit(std::string_view text) {
  if (text.size() < kEscapeSize || !text.starts_with("\\u")) return 0;
  std::uint32_t unit = 0;
  for (const char digit : text.substr(2, kEscapeSize - 2)) {
    const int value = ascii::hex_value(digit);
    if (value < 0) return 0;
    unit = unit << 4U | static_cast<std::uint32_t>(value);
  }
  return unit;
}

bool is_second_half(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

std::string repair_json(std::string_view json) {
  std::string out = utf8::repair(json);
  for (std::size_t at = out.find('\\'); at < out.size();) {
    const std::string_view rest = std::string_view(out).substr(at);
    const std::uint32_t unit = escaped_unit(rest);
    const bool is_half = utf8::is_surrogate(unit);
    const bool is_pair = is_half && !is_second_half(unit) && is_second_half(escaped_unit(rest.substr(kEscapeSize)));
    if (is_half && !is_pair) out.replace(at, kEscapeSize, "\\ufffd");
    at = out.find('\\', at + (is_pair ? 2 * kEscapeSize : 2));  // behind what the backslash escapes
  }
  return out;
}

}  // namespace parlance
