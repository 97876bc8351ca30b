// Base64 in and out. Source of the first: Go 1.26 encoding/base64/base64.go, decodeQuantum.
#include "base/base64.h"

#include <algorithm>
#include <cstdint>

namespace parlance {
namespace {

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

bool decode_base64(std::string_view text, std::string& out, std::size_t& wrong) {
  std::uint32_t group = 0;
  int digits = 0;
  std::size_t at = 0;
  const auto skip_newlines = [&] {
    while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) ++at;
  };
  for (skip_newlines(); at < text.size(); skip_newlines()) {
    const int value = value_of(text[at]);
    if (value < 0) break;
    group = group << 6 | static_cast<std::uint32_t>(value);
    ++at;
    if (++digits < 4) continue;
    for (int shift = 16; shift >= 0; shift -= 8) out += static_cast<char>(group >> shift);
    group = 0;
    digits = 0;
  }
  wrong = at;
  if (at == text.size()) return digits == 0;
  if (text[at] != '=' || digits < 2) return false;
  ++at;
  skip_newlines();
  if (digits == 2) {
    wrong = at;
    if (at == text.size() || text[at] != '=') return false;
    ++at;
    skip_newlines();
  }
  wrong = at;
  if (at != text.size()) return false;
  group <<= 6 * (4 - digits);
  out += static_cast<char>(group >> 16);
  if (digits == 3) out += static_cast<char>(group >> 8);
  return true;
}

std::string encode_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t size = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < size ? static_cast<std::uint8_t>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i) text += i <= size ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace parlance
