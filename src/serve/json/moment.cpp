// Writes and reads moments.
#include "serve/json/moment.h"

#include <iterator>
#include <span>

#include "parlance/json_writer.h"

namespace parlance::serve {

namespace {

struct MomentPart {
  int CivilTime::*member;
  std::int64_t least, most;
};

constexpr MomentPart kMomentParts[] = {
    {&CivilTime::year, 1, 9999},
    {&CivilTime::month, 1, 12},
    {&CivilTime::day, 1, 31},
    {&CivilTime::hour, 0, 23},
    {&CivilTime::minute, 0, 59},
    {&CivilTime::second, 0, 60},
    {&CivilTime::microsecond, 0, 999'999},
};

}  // namespace

std::string moment_json(const CivilTime& moment) {
  JsonWriter list('[');
  for (const MomentPart& part : kMomentParts) list.item(std::to_string(moment.*part.member));
  return list.take();
}

std::optional<CivilTime> moment_of(Value list) {
  const std::span<const Value> items = list.items();
  if (items.size() != std::size(kMomentParts)) return std::nullopt;
  CivilTime made;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const MomentPart& part = kMomentParts[i];
    if (!items[i].is_small_int() || items[i].integer < part.least || items[i].integer > part.most) return std::nullopt;
    made.*part.member = static_cast<int>(items[i].integer);
  }
  return made;
}

}  // namespace parlance::serve
