// ISO 8601 without a zone, read field by field.
#include "cli/civil_time.h"

#include <charconv>
#include <chrono>
#include <ctime>

namespace parlance::cli {
namespace {

/// Takes fields off the front of a text.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}
  /// Exactly `digits` digits with a value in [least, most].
  bool number(std::size_t digits, int least, int most, int& value) {
    if (rest_.size() < digits) return false;
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + digits, value);
    if (failed != std::errc() || end != rest_.data() + digits || value < least || value > most) return false;
    rest_.remove_prefix(digits);
    return true;
  }
  bool mark(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == any_of.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Digits after a decimal point, as millionths.
  bool fraction(int& microseconds) {
    std::size_t digits = 0;
    for (int unit = 100'000; digits < rest_.size() && digits < 6; ++digits, unit /= 10) {
      if (rest_[digits] < '0' || rest_[digits] > '9') return false;
      microseconds += (rest_[digits] - '0') * unit;
    }
    rest_.remove_prefix(digits);
    return digits != 0;
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool parse_clock(Fields& fields, CivilTime& time) {
  if (!fields.number(2, 0, 23, time.hour) || !fields.mark(":") || !fields.number(2, 0, 59, time.minute)) return false;
  if (fields.done()) return true;
  if (!fields.mark(":") || !fields.number(2, 0, 59, time.second)) return false;
  return fields.done() || (fields.mark(".") && fields.fraction(time.microsecond));
}

int days_in(int year, int month) {
  const auto last = std::chrono::year_month_day_last(
      std::chrono::year(year) / std::chrono::month(static_cast<unsigned>(month)) / std::chrono::last);
  return static_cast<int>(static_cast<unsigned>(last.day()));
}

}  // namespace

std::optional<CivilTime> parse_time(std::string_view text) {
  Fields fields(text);
  CivilTime time;
  const bool date = fields.number(4, 1, 9999, time.year) && fields.mark("-") && fields.number(2, 1, 12, time.month) &&
                    fields.mark("-") && fields.number(2, 1, 31, time.day);
  if (!date || time.day > days_in(time.year, time.month)) return std::nullopt;
  if (!fields.done() && (!fields.mark("T ") || !parse_clock(fields, time))) return std::nullopt;
  if (!fields.done()) return std::nullopt;
  return time;
}

CivilTime local_time_now() {
  std::timespec now{};
  std::timespec_get(&now, TIME_UTC);
  std::tm local{};
  ::localtime_r(&now.tv_sec, &local);
  CivilTime time;
  time.year = local.tm_year + 1900;
  time.month = local.tm_mon + 1;
  time.day = local.tm_mday;
  time.hour = local.tm_hour;
  time.minute = local.tm_min;
  time.second = local.tm_sec < 60 ? local.tm_sec : 59;
  time.microsecond = static_cast<int>(now.tv_nsec / 1000);
  return time;
}

}  // namespace parlance::cli
