// The table of formats. A pattern may allow less than its format, never more: e.g. years have four digits and begin
// with none that is 0, IPv6 addresses have all eight groups or "::" with at most six, and addresses of mail no quotes.
#include "grammar/string_formats.h"

#include <algorithm>
#include <iterator>

namespace parlance::grammar {
namespace {

#define PARLANCE_LEAP_YEAR "(?:[1-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:[2468][048]|[13579][26])00)"
#define PARLANCE_DATE                                                                                                  \
  "(?:[1-9][0-9]{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-" \
  "9]|1[0-9]|2[0-8]))|" PARLANCE_LEAP_YEAR "-02-29)"
#define PARLANCE_TIME \
  "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
#define PARLANCE_LABEL "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
#define PARLANCE_BYTE "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
#define PARLANCE_GROUP "[0-9A-Fa-f]{1,4}"
#define PARLANCE_URI_TEXT "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*"

/// A format and the pattern that stands for it. The pattern must be anchored, and in the subset that grammar/regex.cpp
/// reads.
struct Row {
  std::string_view format;
  std::string_view pattern;
};
constexpr Row kRows[] = {
    {"date", "^" PARLANCE_DATE "$"},
    {"time", "^" PARLANCE_TIME "$"},
    {"date-time", "^" PARLANCE_DATE "T" PARLANCE_TIME "$"},
    {"duration",
     "^P(?:[0-9]{1,8}W|(?:[0-9]{1,8}Y)?(?:[0-9]{1,8}M)?[0-9]{1,8}D(?:T[0-9]{1,8}H(?:[0-9]{1,8}M(?:[0-9]{1,8}S)?)?)?|"
     "T(?:[0-9]{1,8}H(?:[0-9]{1,8}M(?:[0-9]{1,8}S)?)?|[0-9]{1,8}M(?:[0-9]{1,8}S)?|[0-9]{1,8}S))$"},
    {"uuid", "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$"},
    {"email", "^[A-Za-z0-9_+-]+(?:\\.[A-Za-z0-9_+-]+)*@" PARLANCE_LABEL "(?:\\." PARLANCE_LABEL ")+$"},
    {"hostname", "^" PARLANCE_LABEL "(?:\\." PARLANCE_LABEL "){0,3}$"},
    {"ipv4", "^" PARLANCE_BYTE "(?:\\." PARLANCE_BYTE "){3}$"},
    {"ipv6", "^(?:" PARLANCE_GROUP "(?::" PARLANCE_GROUP "){7}|(?:" PARLANCE_GROUP "(?::" PARLANCE_GROUP
             "){0,2})?::(?:" PARLANCE_GROUP "(?::" PARLANCE_GROUP "){0,2})?)$"},
    {"uri", "^[A-Za-z][A-Za-z0-9+.-]*:(?://" PARLANCE_LABEL "(?:\\." PARLANCE_LABEL
            ")*(?::[0-9]{1,4})?)?(?:/" PARLANCE_URI_TEXT ")?$"},
    {"uri-reference",
     "^(?:[A-Za-z][A-Za-z0-9+.-]*://" PARLANCE_LABEL "(?:\\." PARLANCE_LABEL ")*)?/" PARLANCE_URI_TEXT "$"},
    {"json-pointer", "^(?:/(?:[^~/]|~[01])*)*$"},
};
#undef PARLANCE_LEAP_YEAR
#undef PARLANCE_DATE
#undef PARLANCE_TIME
#undef PARLANCE_LABEL
#undef PARLANCE_BYTE
#undef PARLANCE_GROUP
#undef PARLANCE_URI_TEXT
/// Known formats that restrict nothing a grammar could say. They are listed so that only unknown ones are noted.
constexpr std::string_view kFree[] = {"",      "byte",          "binary",       "password", "regex",
                                      "int32", "int64",         "float",        "double",   "text",
                                      "iri",   "iri-reference", "uri-template", "markdown"};

}  // namespace

std::string_view pattern_of_format(std::string_view format) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.format == format; });
  return row == std::end(kRows) ? std::string_view() : row->pattern;
}

bool is_free_format(std::string_view format) {
  return std::find(std::begin(kFree), std::end(kFree), format) != std::end(kFree);
}

}  // namespace parlance::grammar
