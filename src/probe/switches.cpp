// Variables whose names speak of thinking are given all values that are usual; what changes the prompt is a switch, or
// knows that level. A word that no template has tells what a template does with any word. Begin reading at
// find_switches.
#include "probe/switches.h"

#include <algorithm>

#include "json/writer.h"

namespace parlance::probe {
namespace {

constexpr std::size_t kMostSwitches = 4;
constexpr std::size_t kMostVariables = 12;  ///< that are tried
constexpr std::string_view kNoWord = "zqeffort";
constexpr std::string_view kOtherWord = "zqotherword";  ///< of another length, that what is counted differs too
constexpr std::string_view kOffWords[] = {"none", "off", "disabled"};
constexpr std::string_view kLevels[] = {"none", "off", "disabled", "minimal", "low", "medium", "high", "xhigh", "max"};
/// The variable that requests bring with an effort.
constexpr std::string_view kRequestsOwn = "reasoning_effort";
/// The levels that a template takes which prints whatever it is given.
constexpr std::string_view kUsual[] = {"low", "medium", "high"};

constexpr OnOff kOnOff[] = {
    {"true", "false"}, {"\"thinking\"", "\"chat\""}, {"\"enabled\"", "\"disabled\""}, {"\"on\"", "\"off\""}};
/// Of a variable that says not to think.
constexpr OnOff kNegated = {"false", "true"};
constexpr std::string_view kNegations[] = {"no_", "not_", "nothink", "skip", "disable", "without", "hide"};
/// What names of variables about thinking have in them.
constexpr std::string_view kWords[] = {"think", "thought", "reason", "effort"};
/// How many tokens may be thought: the number itself says nothing of an effort.
constexpr OnOff kBudget = {"512", "0"};

bool is_budget(std::string_view variable) { return variable.find("budget") != variable.npos; }

bool is_negated(std::string_view variable) {
  return std::any_of(std::begin(kNegations), std::end(kNegations),
                     [&](std::string_view word) { return variable.starts_with(word); });
}

class Finder {
 public:
  explicit Finder(Prober& prober) : prober_(prober), facts_(prober.facts()) {}

  std::vector<ThinkingSwitch> run() {
    if (facts_.syntax == Syntax::go) return of_go();
    std::vector<ThinkingSwitch> tried;
    for (const std::string& variable : facts_.variables) {
      if (tried.size() < kMostVariables && speaks_of_thinking(variable)) tried.push_back(try_values(variable));
    }
    on_ = switched_on(tried);
    for (ThinkingSwitch& one : tried) {
      one.levels = one.printed ? std::vector(std::begin(kUsual), std::end(kUsual)) : levels_of(one.variable);
      drop_one_of(one);
    }
    std::erase_if(tried, [](const ThinkingSwitch& one) { return one.values == nullptr && one.levels.empty(); });
    if (tried.size() > kMostSwitches) tried.resize(kMostSwitches);
    return tried;
  }

 private:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// Ollama's own `think`, which also takes a level.
  std::vector<ThinkingSwitch> of_go() {
    ThinkingSwitch think{.variable = "think"};
    if (differ("true", "false", think.variable)) think.values = &kOnOff[0];
    if (differ("\"high\"", "\"low\"", think.variable)) think.levels.assign(std::begin(kUsual), std::end(kUsual));
    if (think.values == nullptr && think.levels.empty()) return {};
    return {think};
  }

  const Shot& shot(const Variables& variables) {
    return prober_.take({.assistant = false, .generation = true, .variables = variables});
  }

  bool differ(std::string_view on, std::string_view off, const std::string& variable) {
    const Shot& one = shot({{variable, std::string(on)}});
    const Shot& other = shot({{variable, std::string(off)}});
    return one && other && one.text != other.text;
  }

  /// A template that only asks whether an effort was given takes any word.
  bool only_its_being_there_counts() {
    const Shot& none = shot({});
    const Shot& any = shot({{std::string(kRequestsOwn), json_string(kNoWord)}});
    return none && any && none.text != any.text && !differ("true", "false", std::string(kRequestsOwn)) &&
           levels_of(std::string(kRequestsOwn)).empty();
  }

  ThinkingSwitch try_values(const std::string& variable) {
    ThinkingSwitch found{.variable = variable};
    if (is_budget(variable) || is_negated(variable)) {
      const OnOff& values = is_budget(variable) ? kBudget : kNegated;
      if (differ(values.on, values.off, variable)) found.values = &values;
      return found;
    }
    found.printed = differ(json_string(kNoWord), json_string(kOtherWord), variable);  // as it is, or made of it
    if (variable == kRequestsOwn && !found.printed) found.printed = only_its_being_there_counts();
    for (const OnOff& values : kOnOff) {
      if (found.values != nullptr || found.printed) break;
      if (values.on.front() == '"' && !facts_.mentions(values.on.substr(1, values.on.size() - 2))) continue;
      if (differ(values.on, values.off, variable)) found.values = &values;
    }
    return found;
  }

  /// True is no level, where there are some; words that only switch off leave it to the pair to switch on.
  static void drop_one_of(ThinkingSwitch& one) {
    if (one.values == nullptr) return;
    const auto is_off = [](std::string_view level) {
      return std::find(std::begin(kOffWords), std::end(kOffWords), level) != std::end(kOffWords);
    };
    if (!std::all_of(one.levels.begin(), one.levels.end(), is_off)) {
      one.values = nullptr;
    } else {
      std::erase_if(one.levels, [&](std::string_view level) { return json_string(level) == one.values->off; });
    }
  }

  static Variables switched_on(const std::vector<ThinkingSwitch>& switches) {
    Variables on;
    for (const ThinkingSwitch& one : switches) {
      if (one.values != nullptr && one.values != &kBudget) on.emplace_back(one.variable, one.values->on);
    }
    return on;
  }

  const Shot& beside(const std::string& variable, std::string_view level, const Variables& others) {
    Variables variables{{variable, json_string(level)}};
    for (const auto& other : others) {
      if (other.first != variable) variables.push_back(other);
    }
    return shot(variables);
  }

  bool is_known(const std::string& variable, std::string_view level, const Variables& others) {
    const Shot& any = beside(variable, kNoWord, others);
    const Shot& one = beside(variable, level, others);
    return one && (!any || one.text != any.text);
  }

  /// A level is known where it makes a difference, or where it is what the template takes other words for: with the
  /// other switches on, since some levels count only then, or alone. One that makes none is any word to a template that
  /// does not mention it.
  std::vector<std::string_view> levels_of(const std::string& variable) {
    std::vector<std::string_view> levels;
    bool differs = false;
    if (is_budget(variable)) return levels;
    for (const std::string_view level : kLevels) {
      const bool known = is_known(variable, level, on_) || is_known(variable, level, {});
      if (!known && !facts_.mentions(level)) continue;
      if (!beside(variable, level, on_)) continue;
      levels.push_back(level);
      differs = differs || known;
    }
    return differs ? levels : std::vector<std::string_view>();
  }

  Prober& prober_;
  const TemplateFacts& facts_;
  Variables on_;
};

}  // namespace

bool speaks_of_thinking(std::string_view variable) {
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return variable.find(word) != variable.npos; });
}

std::vector<std::string> ThinkingSwitch::settings() const {
  std::vector<std::string> all;
  if (values != nullptr) all = {std::string(values->on), std::string(values->off)};
  for (const std::string_view level : levels) all.push_back(json_string(level));
  return all;
}

std::vector<ThinkingSwitch> find_switches(Prober& prober) { return Finder(prober).run(); }

}  // namespace parlance::probe
