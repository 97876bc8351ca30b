// Variables whose names speak of thinking are given all values that are usual; what changes the prompt is a switch, or knows
// that level. A word that no template has tells what a template does with any word. Begin reading at find_efforts.
#include "probe/effort.h"

#include <algorithm>
#include <array>

namespace parlance::probe {
namespace {

constexpr std::size_t kMostVariables = 4;
constexpr std::size_t kOff = 3;  ///< of the levels of none, those that are off
constexpr std::string_view kNoWord = "zqeffort";

/// An effort, and the levels that come nearest to it, best first.
struct Row {
  std::string_view effort;
  std::array<std::string_view, 6> levels;
};
constexpr Row kRows[] = {
    {"none", {"none", "off", "disabled", "minimal", "low"}},
    {"minimal", {"minimal", "low", "medium", "high"}},
    {"low", {"low", "minimal", "medium", "high"}},
    {"medium", {"medium", "high", "low"}},
    {"high", {"high", "xhigh", "max", "medium", "low"}},
    {"xhigh", {"xhigh", "max", "high", "medium", "low"}},
    {"max", {"max", "xhigh", "high", "medium", "low"}},
};
constexpr std::string_view kLevels[] = {"none", "off", "disabled", "minimal", "low", "medium", "high", "xhigh", "max"};
/// The levels that a template takes which prints whatever it is given.
constexpr std::string_view kUsual[] = {"low", "medium", "high"};

/// Values that switch reasoning on and off.
struct Pair {
  std::string_view on, off;
};
constexpr Pair kPairs[] = {{"true", "false"}, {"\"thinking\"", "\"chat\""}, {"\"enabled\"", "\"disabled\""}, {"\"on\"", "\"off\""}};

std::string in_quotes(std::string_view word) { return "\"" + std::string(word) + "\""; }

bool sounds_like_one(std::string_view variable) {
  return variable.find("think") != variable.npos || variable.find("reason") != variable.npos || variable.find("effort") != variable.npos;
}

/// Whether a switch is on for an effort; one that is called low_effort only where that comes nearest.
bool is_on(std::string_view variable, const Row& row) {
  if (row.effort == "none") return false;
  for (const std::string_view level : kLevels) {
    if (variable.starts_with(level) && variable.substr(level.size()).starts_with('_')) return row.levels[0] == level || row.levels[1] == level;
  }
  return true;
}

/// What one variable does.
struct Switch {
  std::string variable;
  const Pair* pair = nullptr;
  std::vector<std::string_view> levels;
  bool printed = false;  ///< the prompt shows whatever it is given
};

class Finder {
 public:
  explicit Finder(Prober& prober) : prober_(prober), facts_(prober.chat_template().facts()) {}

  std::vector<EffortSetting> run() {
    if (facts_.syntax == Syntax::go) return of_go();
    for (const std::string& variable : facts_.variables) {
      if (switches_.size() < kMostVariables && sounds_like_one(variable)) switches_.push_back(try_pairs(variable));
    }
    for (Switch& one : switches_) one.levels = one.printed ? std::vector(std::begin(kUsual), std::end(kUsual)) : levels_of(one.variable);
    for (Switch& one : switches_) {
      if (!one.levels.empty()) one.pair = nullptr;  // true is no level
    }
    std::erase_if(switches_, [](const Switch& one) { return one.pair == nullptr && one.levels.empty(); });
    std::vector<EffortSetting> efforts;
    if (switches_.empty()) return efforts;
    for (const Row& row : kRows) efforts.push_back(setting(row));
    return efforts;
  }

 private:
  /// Ollama's engine takes `reasoning_effort` itself, for .Think and .ThinkLevel.
  std::vector<EffortSetting> of_go() {
    const std::string variable = "reasoning_effort";
    const Shot none = shot(variable, in_quotes("none")), high = shot(variable, in_quotes("high"));
    std::vector<EffortSetting> efforts;
    if (!none || !high || none.text == high.text) return efforts;
    for (const Row& row : kRows) efforts.push_back({std::string(row.effort), {{variable, in_quotes(row.effort)}}});
    return efforts;
  }

  Shot shot(const std::string& variable, std::string_view json) {
    return prober_.take({.assistant = false, .generation = true, .variables = {{variable, std::string(json)}}});
  }

  /// With the other switches on, since some levels count only then.
  Shot shot_of_level(const std::string& variable, std::string_view level) {
    Scene scene{.assistant = false, .generation = true, .variables = {{variable, in_quotes(level)}}};
    for (const Switch& other : switches_) {
      if (other.pair != nullptr && other.variable != variable) scene.variables.emplace_back(other.variable, other.pair->on);
    }
    return prober_.take(scene);
  }

  Switch try_pairs(const std::string& variable) {
    Switch found{.variable = variable};
    const Shot any = shot(variable, in_quotes(kNoWord));
    found.printed = any && any.text.find(kNoWord) != std::string::npos;
    for (const Pair& pair : kPairs) {
      if (found.pair != nullptr || found.printed) break;
      if (pair.on.front() == '"' && !facts_.mentions(pair.on.substr(1, pair.on.size() - 2))) continue;
      const Shot on = shot(variable, pair.on), off = shot(variable, pair.off);
      if (on && off && on.text != off.text) found.pair = &pair;
    }
    return found;
  }

  /// A level is known where it makes a difference, or where it is what the template takes other words for.
  std::vector<std::string_view> levels_of(const std::string& variable) {
    const Shot any = shot_of_level(variable, kNoWord);
    std::vector<std::string_view> levels;
    bool differs = false;
    for (const std::string_view level : kLevels) {
      const Shot one = shot_of_level(variable, level);
      if (!one) continue;
      const bool known = !any || one.text != any.text;
      if (known || facts_.mentions(level)) levels.push_back(level);
      differs = differs || known;
    }
    return differs ? levels : std::vector<std::string_view>();
  }

  EffortSetting setting(const Row& row) const {
    EffortSetting made{std::string(row.effort), {}};
    const bool switched = std::any_of(switches_.begin(), switches_.end(), [](const Switch& one) { return one.pair != nullptr; });
    const auto end = row.effort == "none" && switched ? row.levels.begin() + kOff : row.levels.end();  // what is off needs no low level
    for (const Switch& one : switches_) {
      if (one.pair != nullptr) made.variables.push_back({one.variable, std::string(is_on(one.variable, row) ? one.pair->on : one.pair->off)});
      const auto nearest = std::find_if(row.levels.begin(), end, [&](std::string_view level) {
        return !level.empty() && std::find(one.levels.begin(), one.levels.end(), level) != one.levels.end();
      });
      if (nearest != end) made.variables.push_back({one.variable, in_quotes(*nearest)});
    }
    return made;
  }

  Prober& prober_;
  const TemplateFacts facts_;
  std::vector<Switch> switches_;
};

}  // namespace

std::vector<EffortSetting> find_efforts(Prober& prober) { return Finder(prober).run(); }

}  // namespace parlance::probe
