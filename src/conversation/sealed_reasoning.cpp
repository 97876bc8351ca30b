// Base64 behind a mark.
#include "conversation/sealed_reasoning.h"

#include <cstddef>

#include "base/base64.h"
#include "base/utf8.h"

namespace parlance {
namespace {

/// Says whose it is, and how the rest is written.
constexpr std::string_view kMark = "parlance1.";

}  // namespace

std::string sealed_reasoning(std::string_view text) { return std::string(kMark) + encode_base64(utf8::repair(text)); }

std::optional<std::string> opened_reasoning(std::string_view sealed) {
  if (!sealed.starts_with(kMark)) return std::nullopt;
  std::string text;
  std::size_t wrong = 0;
  if (!decode_base64(sealed.substr(kMark.size()), text, wrong) || !utf8::is_valid(text, false)) return std::nullopt;
  return text;
}

}  // namespace parlance
