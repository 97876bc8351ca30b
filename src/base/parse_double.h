// A number with a point from its digits, exact, in each standard library: libc++ before 20 has std::from_chars for
// integers alone. Begin reading at parse_double.
#pragma once
#include <charconv>
#include <version>

#ifndef __cpp_lib_to_chars
#include <cerrno>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string>
#endif

namespace parlance {

#ifdef __cpp_lib_to_chars

/// std::from_chars for a double: without leading white space or plus, in no locale.
inline std::from_chars_result parse_double(const char* begin, const char* end, double& value,
                                           std::chars_format format = std::chars_format::general) {
  return std::from_chars(begin, end, value, format);
}

#else

/// The same from strtod in the locale "C". Callers have seen that a digit or a point comes first, after a minus at
/// most.
inline std::from_chars_result parse_double(const char* begin, const char* end, double& value,
                                           std::chars_format format = std::chars_format::general) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const bool hex = format == std::chars_format::hex;
  const bool minus = hex && begin != end && *begin == '-';
  const std::string digits = hex ? (minus ? "-0x" : "0x") + std::string(begin + minus, end) : std::string(begin, end);
  char* stop = nullptr;
  errno = 0;
  const double read = strtod_l(digits.c_str(), &stop, plain);
  const std::ptrdiff_t used = stop - digits.c_str() - (hex ? 2 : 0);
  if (used <= 0) return {begin, std::errc::invalid_argument};
  const bool out_of_range = errno == ERANGE && (std::isinf(read) || read == 0);
  if (!out_of_range) value = read;
  return {begin + used, out_of_range ? std::errc::result_out_of_range : std::errc()};
}

#endif

}  // namespace parlance
