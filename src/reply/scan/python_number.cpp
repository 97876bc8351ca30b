// Numbers of Python as numbers of JSON. Begin reading at json_of_python_number.
#include <algorithm>

#include "reply/scan/python_scanner.h"

namespace parlance::reply {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = static_cast<char>(c | 0x20);
  return low >= 'a' && low <= 'z' ? low - 'a' + 10 : 99;
}

/// Digits of `base` without their underscores; "" unless each underscore stands between two digits (or leads, with a
/// base's prefix before it).
std::string plain_digits(std::string_view text, int base, bool may_lead = false) {
  std::string digits;
  bool after_digit = may_lead;
  for (const char c : text) {
    if (c == '_') {
      if (!after_digit) return {};
      after_digit = false;
      continue;
    }
    if (digit_of(c) >= base) return {};
    digits += c;
    after_digit = true;
  }
  return after_digit ? digits : std::string();
}

/// Decimal digits of a number in a base that is a power of two. Nine digits at a time, least first.
std::string to_decimal(std::string_view digits, int base) {
  constexpr std::uint64_t kLimb = 1'000'000'000;
  std::vector<std::uint32_t> limbs{0};
  for (const char c : digits) {
    std::uint64_t carry = static_cast<std::uint64_t>(digit_of(c));
    for (std::uint32_t& limb : limbs) {
      carry += std::uint64_t{limb} * static_cast<std::uint64_t>(base);
      limb = static_cast<std::uint32_t>(carry % kLimb);
      carry /= kLimb;
    }
    if (carry != 0) limbs.push_back(static_cast<std::uint32_t>(carry));
  }
  std::string out = std::to_string(limbs.back());
  for (std::size_t i = limbs.size() - 1; i-- > 0;) {
    const std::string part = std::to_string(limbs[i]);
    out.append(9 - part.size(), '0').append(part);
  }
  return out;
}

int base_of(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return 10;
  switch (text[1] | 0x20) {
    case 'x': return 16;
    case 'o': return 8;
    case 'b': return 2;
    default: return 10;
  }
}

std::string without_leading_zeros(std::string digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return digits;
}

std::string whole_number(std::string_view text) {
  std::string digits = plain_digits(text, 10);
  if (digits.empty()) return {};
  return without_leading_zeros(std::move(digits));
}

/// What stands behind `e`, with its sign.
std::string exponent_of(std::string_view text) {
  const bool has_sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  const std::string digits = plain_digits(text.substr(has_sign ? 1 : 0), 10);
  return digits.empty() ? std::string() : std::string(text.substr(0, has_sign ? 1 : 0)) + digits;
}

std::string real_number(std::string_view text, std::size_t point, std::size_t e) {
  const std::string_view mantissa = text.substr(0, e);
  const std::string_view whole = mantissa.substr(0, point);
  const std::string_view part = point == text.npos ? std::string_view() : mantissa.substr(point + 1);
  if (whole.empty() && part.empty()) return {};
  const std::string digits = whole.empty() ? "0" : plain_digits(whole, 10);
  const std::string fraction = part.empty() ? "0" : plain_digits(part, 10);
  if (digits.empty() || fraction.empty()) return {};
  std::string out = without_leading_zeros(digits);
  if (point != text.npos) out.append(".").append(fraction);
  if (e == text.npos) return out;
  const std::string power = exponent_of(text.substr(e + 1));
  return power.empty() ? std::string() : out.append(1, text[e]).append(power);
}

}  // namespace

std::string json_of_python_number(std::string_view text) {
  // nearly all are
  if (!text.starts_with('0') && std::ranges::all_of(text, ascii::is_digit)) return std::string(text);
  if (const int base = base_of(text); base != 10) {
    const std::string digits = plain_digits(text.substr(2), base, true);
    return digits.empty() ? std::string() : to_decimal(digits, base);
  }
  const std::size_t e = text.find_first_of("eE");
  std::size_t point = text.find('.');
  if (point != text.npos && e != text.npos && point > e) return {};
  return point == text.npos && e == text.npos ? whole_number(text) : real_number(text, point, e);
}

}  // namespace parlance::reply
