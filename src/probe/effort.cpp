// From the switches of a template to what each effort sets. Begin reading at efforts_of.
#include "probe/effort.h"

#include <algorithm>
#include <array>

#include "json/writer.h"

namespace parlance::probe {
namespace {

constexpr std::size_t kOff = 3;  ///< of the levels of none, those that are off

/// An effort, and the levels that come nearest to it, best first.
struct Row {
  std::string_view effort;
  std::array<std::string_view, 6> levels;
};
constexpr Row kRows[] = {
    {"none", {"none", "off", "disabled", "minimal", "low"}}, {"minimal", {"minimal", "low", "medium", "high"}},
    {"low", {"low", "minimal", "medium", "high"}},           {"medium", {"medium", "high", "low"}},
    {"high", {"high", "xhigh", "max", "medium", "low"}},     {"xhigh", {"xhigh", "max", "high", "medium", "low"}},
    {"max", {"max", "xhigh", "high", "medium", "low"}},
};

/// Ollama's engine takes `reasoning_effort` itself, for .Think and .ThinkLevel.
constexpr std::string_view kOllama = "reasoning_effort";

/// What a switch is set to; nothing where it is left alone. One that is called low_effort is on only where that comes
/// nearest, and a number of tokens says no more than none.
std::string_view value_of(const ThinkingSwitch& one, const Row& row) {
  if (row.effort == "none") return one.values->off;
  if (one.values->on.front() >= '0' && one.values->on.front() <= '9') return {};
  for (const Row& named : kRows) {
    const bool is_named = one.variable.starts_with(named.effort) &&
                          std::string_view(one.variable).substr(named.effort.size()).starts_with('_');
    if (is_named)
      return row.levels[0] == named.effort || row.levels[1] == named.effort ? one.values->on : one.values->off;
  }
  return one.values->on;
}

/// The level nearest to an effort; "" for none. What is off needs no low level where something switches.
std::string_view nearest(const ThinkingSwitch& one, const Row& row, bool switched) {
  const auto end = row.effort == "none" && switched ? row.levels.begin() + kOff : row.levels.end();
  const auto found = std::find_if(row.levels.begin(), end, [&](std::string_view level) {
    return !level.empty() && std::find(one.levels.begin(), one.levels.end(), level) != one.levels.end();
  });
  return found == end ? std::string_view() : *found;
}

/// A template may have a switch and levels at once. The level is set where it has one that comes near; else the switch.
EffortSetting setting(const std::vector<ThinkingSwitch>& switches, const Row& row) {
  EffortSetting made{std::string(row.effort), {}};
  const bool switched =
      std::any_of(switches.begin(), switches.end(), [](const ThinkingSwitch& one) { return one.values != nullptr; });
  for (const ThinkingSwitch& one : switches) {
    const std::string_view level = nearest(one, row, switched);
    const std::string_view value = level.empty() && one.values != nullptr ? value_of(one, row) : std::string_view();
    if (!value.empty()) made.variables.push_back({one.variable, std::string(value)});
    if (!level.empty()) made.variables.push_back({one.variable, json_string(level)});
  }
  return made;
}

}  // namespace

std::vector<EffortSetting> efforts_of(const std::vector<ThinkingSwitch>& switches, Syntax syntax) {
  std::vector<EffortSetting> efforts;
  if (switches.empty()) return efforts;
  for (const Row& row : kRows) {
    if (syntax == Syntax::go) {
      efforts.push_back({std::string(row.effort), {{std::string(kOllama), json_string(row.effort)}}});
    } else {
      efforts.push_back(setting(switches, row));
    }
  }
  return efforts;
}

}  // namespace parlance::probe
