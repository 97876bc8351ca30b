// CivilTime: the current time, which the caller of a render gives. The library never reads the clock.
#pragma once

namespace parlance {

/// A moment in the caller's local time, without a zone; what strftime_now prints. A render fails with usage where there
/// is no such moment: year 1-9999, month 1-12, a day of that month, hour 0-23, minute 0-59, second 0-60, microsecond
/// 0-999999.
struct CivilTime {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
};

}  // namespace parlance
