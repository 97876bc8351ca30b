// Whole numbers on the command line: what is none, or out of range, is refused with the range.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "cli/options/options.h"

namespace parlance::cli {

/// A check of an option: "" for digits without leading zeros whose number is in [least, most], else what is wrong.
ValueCheck whole_number(std::uint64_t least, std::uint64_t most);

inline constexpr std::uint64_t kMostThreads = 1024;
inline constexpr std::uint64_t kMostSeconds = 1'000'000'000;             ///< 31 years, which milliseconds can count
inline constexpr std::uint64_t kMostMebibytes = std::uint64_t{1} << 30;  ///< whose bytes can be counted
inline constexpr std::uint64_t kMostCount = std::numeric_limits<std::int64_t>::max();

/// An option that takes such a number. Help shows the value that it has now, unless it stands for none.
template <typename Number>
Option add_number(Options& app, const char* name, Number& into, std::string sentence, std::uint64_t most = kMostCount,
                  std::uint64_t least = 0) {
  most = std::min(most, static_cast<std::uint64_t>(std::numeric_limits<Number>::max()));
  Option option = app.add_option(name, into, std::move(sentence)).placeholder("N").check(whole_number(least, most));
  return into > 0 ? option.show_default() : option;
}

}  // namespace parlance::cli
