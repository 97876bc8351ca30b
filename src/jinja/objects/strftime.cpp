// strftime without the C library, whose result depends on the process's locale and time zone.
//
// Source of the rules: glibc's strftime (flags _ - 0 ^ #, widths, E and O, unknown directives
// printed as they stand) under CPython 3.11's datetime.strftime, which replaces %f, %z and %Z
// itself. Begin reading at Formatter::directive.
#include "jinja/objects/strftime.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

namespace parlance::jinja {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

/// Days from 1970-01-01 (proleptic Gregorian; years of 400 at a time).
/// Years are counted from March, so that the leap day is the last of its year; 153 days in five months is what the
/// months from March on have.
std::int64_t days_since_epoch(std::int64_t year, std::int64_t month, std::int64_t day) {
  std::int64_t y = month <= 2 ? year - 1 : year;
  std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  std::int64_t of_era = y - era * 400;
  std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// What a directive's text depends on besides the letter.
struct Style {
  char pad = 0;  ///< '_', '-', '0' or 0
  bool upper = false;
  bool swap = false;  ///< '#'
  char modifier = 0;  ///< 'E', 'O' or 0
  std::int64_t width = 0;
};

class Formatter {
 public:
  Formatter(Runtime& rt, std::string& out, const CivilTime& now) : rt_(rt), out_(out), now_(now) {}
  void format(std::string_view text);

 private:
  std::size_t read_style(std::string_view text, std::size_t i, Style& style);
  bool directive(char letter, const Style& style);
  bool name_directive(char letter, const Style& style);
  bool number_directive(char letter, const Style& style);
  bool composite(char letter, const Style& style);
  bool add_margin(std::int64_t size, char with);
  void add(std::string_view text, const Style& style);
  void number(std::int64_t value, std::int64_t digits, const Style& style, char pad = '0');
  int iso_week(int& year) const;
  int hour12() const { return now_.hour % 12 == 0 ? 12 : now_.hour % 12; }
  std::int64_t days() const { return days_since_epoch(now_.year, now_.month, now_.day); }
  /// From Sunday.
  int weekday() const { return static_cast<int>(((days() + 4) % 7 + 7) % 7); }
  int monday_based() const { return (weekday() + 6) % 7; }
  /// From 0.
  int yearday() const { return static_cast<int>(days() - days_since_epoch(now_.year, 1, 1)); }
  std::int64_t seconds() const { return ((days() * 24 + now_.hour) * 60 + now_.minute) * 60 + now_.second; }
  std::string_view day_name() const { return kDays[static_cast<std::size_t>(weekday())]; }
  /// A render refuses a month that has no name; glibc prints this for one.
  std::string_view month_name() const {
    return now_.month >= 1 && now_.month <= 12 ? kMonths[static_cast<std::size_t>(now_.month - 1)] : "?";
  }

  Runtime& rt_;
  std::string& out_;
  const CivilTime& now_;
};

void to_upper(std::span<char> text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
}

/// The width comes from the template, up to 2^31: asked for before it is made. False where it may not be.
bool Formatter::add_margin(std::int64_t size, char with) {
  const auto margin = static_cast<std::uint64_t>(size);
  if (!rt_.reserve(out_.size() + margin) || !rt_.charge_bytes(margin)) return false;
  out_.append(margin, with);
  return true;
}

/// Appends text, widened on its left.
void Formatter::add(std::string_view text, const Style& style) {
  const auto size = static_cast<std::int64_t>(text.size());
  if (style.width > size && !add_margin(style.width - size, style.pad == '0' ? '0' : ' ')) return;
  const std::size_t begin = out_.size();
  out_ += text;
  if (style.upper) to_upper(std::span(out_).subspan(begin));
}

/// '_' pads in front of the sign and '0' behind it. `digits` is what the directive has by itself; '-' takes that away.
void Formatter::number(std::int64_t value, std::int64_t digits, const Style& style, char pad) {
  if (style.pad != 0) pad = style.pad;
  char buffer[24];
  const std::string_view text(buffer,
                              static_cast<std::size_t>(std::to_chars(buffer, std::end(buffer), value).ptr - buffer));
  const std::size_t sign = value < 0 ? 1 : 0;
  const std::int64_t margin = std::max(digits, style.width) - static_cast<std::int64_t>(text.size());
  if (pad == '-' || margin <= 0) return add(text, style);
  if (pad != '_') out_ += text.substr(0, sign);
  if (!add_margin(margin, pad == '_' ? ' ' : '0')) return;
  out_ += pad == '_' ? text : text.substr(sign);
}

/// The week's number, and the year that it belongs to.
int Formatter::iso_week(int& year) const {
  year = now_.year;
  const int week = (yearday() - monday_based() + 10) / 7;
  // A year has 53 weeks if it begins on a Thursday, or on a Wednesday when it is a leap year.
  auto weeks_in = [](int y) {
    std::int64_t first = ((days_since_epoch(y, 1, 1) + 3) % 7 + 7) % 7;  // from Monday
    return first == 3 || (first == 2 && is_leap(y)) ? 53 : 52;
  };
  if (week < 1) return weeks_in(--year);
  if (week <= weeks_in(year)) return week;
  ++year;
  return 1;
}

bool Formatter::name_directive(char letter, const Style& style) {
  Style cased = style;
  std::string_view text;
  switch (letter) {
    case 'a': text = day_name().substr(0, 3); break;
    case 'A': text = day_name(); break;
    case 'b':
    case 'h': text = month_name().substr(0, 3); break;
    case 'B': text = month_name(); break;
    case 'P':
    case 'p': {
      const bool lower = letter == 'P' || style.swap;
      cased.upper = style.upper && letter == 'p' && !style.swap;
      add(now_.hour < 12 ? (lower ? "am" : "AM") : (lower ? "pm" : "PM"), cased);
      return true;
    }
    case 'n': text = "\n"; break;
    case 't': text = "\t"; break;
    case '%': text = "%"; break;
    case 'Z': break;
    case 'z': return true;
    default: return false;
  }
  cased.upper = style.upper || (style.swap && letter != 'n' && letter != 't' && letter != '%');
  add(text, cased);
  return true;
}

bool Formatter::number_directive(char letter, const Style& style) {
  int iso_year;
  switch (letter) {
    case 'C': number(now_.year / 100, 1, style); return true;
    case 'd': number(now_.day, 2, style); return true;
    case 'e': number(now_.day, 2, style, '_'); return true;
    case 'g': iso_week(iso_year), number(iso_year % 100, 2, style); return true;
    case 'G': iso_week(iso_year), number(iso_year, 1, style); return true;
    case 'H': number(now_.hour, 2, style); return true;
    case 'I': number(hour12(), 2, style); return true;
    case 'j': number(yearday() + 1, 3, style); return true;
    case 'k': number(now_.hour, 2, style, '_'); return true;
    case 'l': number(hour12(), 2, style, '_'); return true;
    case 'm': number(now_.month, 2, style); return true;
    case 'M': number(now_.minute, 2, style); return true;
    case 's': number(seconds(), 1, style); return true;
    case 'S': number(now_.second, 2, style); return true;
    case 'u': number(monday_based() + 1, 1, style); return true;
    case 'U': number((yearday() - weekday() + 7) / 7, 2, style); return true;
    case 'V': number(iso_week(iso_year), 2, style); return true;
    case 'w': number(weekday(), 1, style); return true;
    case 'W': number((yearday() - monday_based() + 7) / 7, 2, style); return true;
    case 'y': number(now_.year % 100, 2, style); return true;
    case 'Y': number(now_.year, 1, style); return true;
    default: return false;
  }
}

bool Formatter::composite(char letter, const Style& style) {
  std::string_view format;
  switch (letter) {
    case 'c': format = "%a %b %e %H:%M:%S %Y"; break;
    case 'D':
    case 'x': format = "%m/%d/%y"; break;
    case 'F': format = "%Y-%m-%d"; break;
    case 'r': format = "%I:%M:%S %p"; break;
    case 'R': format = "%H:%M"; break;
    case 'T':
    case 'X': format = "%H:%M:%S"; break;
    default: return false;
  }
  std::string text;
  // Apart first: width and upper case apply to the whole, as in glibc.
  Formatter(rt_, text, now_).format(format);
  add(text, style);
  return true;
}

/// E and O ask for a locale's own eras and digits. In the C locale they change nothing, but only where C allows them.
bool Formatter::directive(char letter, const Style& style) {
  constexpr std::string_view kWithE = "cCnpPrRstTuxXyYzZ";
  constexpr std::string_view kWithO = "bBCdegGhHIjklmMnpPrRsStTuUVwWyzZ";
  if (style.modifier == 'E' && kWithE.find(letter) == std::string_view::npos) return false;
  if (style.modifier == 'O' && kWithO.find(letter) == std::string_view::npos) return false;
  return name_directive(letter, style) || number_directive(letter, style) || composite(letter, style);
}

/// Reads flags, width and modifier from `i` on; gives the place of the letter.
std::size_t Formatter::read_style(std::string_view text, std::size_t i, Style& style) {
  for (; i < text.size(); ++i) {
    char c = text[i];
    if (c == '_' || c == '-' || c == '0') {
      style.pad = c;
    } else if (c == '^') {
      style.upper = true;
    } else if (c == '#') {
      style.swap = true;
    } else {
      break;
    }
  }
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    style.width = std::min<std::int64_t>(style.width * 10 + (text[i] - '0'), INT32_MAX);
  }
  if (i < text.size() && (text[i] == 'E' || text[i] == 'O')) style.modifier = text[i++];
  return i;
}

void Formatter::format(std::string_view text) {
  for (std::size_t i = 0; i < text.size() && !rt_.failed(); ++i) {
    if (text[i] != '%') {
      out_ += text[i];
      continue;
    }
    Style style;
    std::size_t letter = read_style(text, i + 1, style);
    if (letter >= text.size() || !directive(text[letter], style)) {
      // What glibc does not know it prints; of "%E%" only the last sign.
      letter = std::min(letter, text.size() - 1);
      std::size_t begin = text[letter] == '%' ? letter : i;
      style.upper = style.upper || (style.swap && (text[letter] == 'b' || text[letter] == 'h'));
      add(text.substr(begin, letter + 1 - begin), style);
    }
    i = letter;
  }
}

}  // namespace

std::size_t first_time_part(std::string_view format) {
  if (!format.starts_with('%')) return std::min(format.find('%'), format.size());
  std::size_t end = std::min(format.find_first_not_of("_-0^#", 1), format.size());
  end = std::min(format.find_first_not_of("0123456789", end), format.size());
  if (end < format.size() && (format[end] == 'E' || format[end] == 'O')) ++end;
  if (end < format.size()) ++end;
  while (end < format.size() && (static_cast<unsigned char>(format[end]) & 0xC0) == 0x80) ++end;  // a whole character
  return end;
}

namespace {

/// Python goes first, over pairs of '%' and any character; glibc sees what is left.
std::string as_python_leaves_it(std::string_view format, const CivilTime& now) {
  std::string seen;
  for (std::size_t i = 0; i < format.size(); ++i) {
    char next = format[i] == '%' && i + 1 < format.size() ? format[i + 1] : '\0';
    if (next == 'f') {
      std::string micros = std::to_string(now.microsecond);
      seen.append(6 - std::min<std::size_t>(6, micros.size()), '0');
      seen += micros;
    } else if (next != 'z' && next != 'Z') {
      seen += format.substr(i, next == '\0' ? 1 : 2);
    }
    if (next != '\0') ++i;
  }
  return seen;
}

}  // namespace

void append_time(Runtime& rt, std::string& out, const CivilTime& now, std::string_view format) {
  Formatter formatter(rt, out, now);
  const bool is_for_python = format.find_first_of("fzZ") != format.npos;  // perhaps; most formats have none of them
  is_for_python ? formatter.format(as_python_leaves_it(format, now)) : formatter.format(format);
}

}  // namespace parlance::jinja
