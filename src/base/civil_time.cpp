// The ranges of a moment's members, which are those of Python's datetime, and a leap second.
#include "base/civil_time.h"

#include <array>
#include <string>
#include <string_view>

namespace parlance {
namespace {

struct MemberRange {
  std::string_view name;
  int CivilTime::*member;
  int least;
  int most;
};

constexpr std::array<MemberRange, 7> kMemberRanges = {{
    {"year", &CivilTime::year, 1, 9999},
    {"month", &CivilTime::month, 1, 12},
    {"day", &CivilTime::day, 1, 31},
    {"hour", &CivilTime::hour, 0, 23},
    {"minute", &CivilTime::minute, 0, 59},
    {"second", &CivilTime::second, 0, 60},
    {"microsecond", &CivilTime::microsecond, 0, 999'999},
}};

Error no_moment(std::string_view member, int value, int least, int most) {
  return Error(ErrorCode::usage, "the " + std::string(member) + " of `now` is " + std::to_string(value) +
                                     "; it must be from " + std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

int days_in_month(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

std::optional<Error> why_no_moment(const CivilTime& time) {
  for (const auto& [name, member, least, most] : kMemberRanges) {
    if (time.*member < least || time.*member > most) return no_moment(name, time.*member, least, most);
  }
  const int days = days_in_month(time.year, time.month);
  if (time.day > days) return no_moment("day", time.day, 1, days);
  return std::nullopt;
}

}  // namespace parlance
