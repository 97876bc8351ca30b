// How much reasoning a request asks for, as the variables of one template. Begin reading at reasoning_effort.
#include <algorithm>

#include "base/format.h"
#include "conversation/json_text.h"
#include "conversation/normalise.h"
#include "conversation/passes_for_templates.h"
#include "json/json.h"

namespace parlance::passes {
namespace {

constexpr std::string_view kNoEffect = "has no effect: the template has no setting for how much the model reasons";
constexpr std::string_view kOnlyOn =
    "switches reasoning on: the template has no levels, and reasons as much as for 'high'";
constexpr std::string_view kUnknown = "not a known reasoning effort; passed through unchanged";
constexpr std::string_view kNoWord = "expected a string such as \"low\"; passed through unchanged";
constexpr std::string_view kNoSwitch = "expected true or false; passed through unchanged";
constexpr std::string_view kElsewhere = "not where requests set the effort; passed through unchanged";
constexpr std::string_view kStays = "keeps the value that the request sets; the reasoning effort does not change it";
constexpr std::string_view kOverruled =
    "keeps the value set outside the request; the reasoning effort does not change "
    "it";

bool is_effort(std::string_view word) {
  return std::find(std::begin(kEfforts), std::end(kEfforts), word) != std::end(kEfforts);
}

/// The variables that the pass's setting has for an effort.
std::span<const EffortVariable> variables_for(const Normaliser& n, std::string_view effort) {
  const std::vector<EffortSetting>& efforts = n.setting->efforts;
  const auto found = std::find_if(efforts.begin(), efforts.end(),
                                  [&](const EffortSetting& setting) { return setting.effort == effort; });
  return found == efforts.end() ? std::span<const EffortVariable>() : found->variables;
}

/// Where the effort was asked for, and may be written anew.
bool is_source(Value variables, std::string_view name) {
  const Value* given = member(variables, name);
  return name == "reasoning_effort" || (given != nullptr && given->kind == Kind::dict);
}

void note(Normaliser& n, std::string_view name, std::string_view what = {}) {
  n.variable = name;
  n.note();
  n.state.changes.back().what = what;
}

std::string_view nearest(Arena& arena, std::string_view level, std::string_view effort) {
  return arena.copy_text(format("'{}', the nearest level to '{}' that the template knows", level, effort));
}

void set(Normaliser& n, std::string_view effort, std::string_view name, std::string_view json) {
  const Value* given = member(n.state.variables, name);
  if (given != nullptr && json_text(*given) == json) {
    n.state.kept_for_effort.push_back({n.pass, -1, -1, name, -1, {}});
    return;
  }
  if (given != nullptr && !given->is_none() && !is_source(n.state.variables, name)) return note(n, name, kStays);
  const std::uint32_t origin = n.state.add_region(json, -1, false);
  const Result<Value> value =
      read_json_text(n.state, n.rt, Value::view(json), origin, [name] { return std::string(name); });
  if (!value) return;
  n.state.set_variable(Value::view(name), *value);
  const std::string_view word = json.starts_with('"') ? json.substr(1, json.size() - 2) : std::string_view();
  note(n, name,
       is_effort(word) && word != effort && effort != kAnyEffort ? nearest(n.state.arena, word, effort)
                                                                 : std::string_view());
}

bool is_word(Value given) { return given.is_leaf() && !leaf_text(given).empty(); }

/// What is to be noted of what a request says where an effort may stand; "" for an effort, a switch, and what says
/// nothing.
std::string_view doubt_of(std::string_view name, Value given) {
  const bool has_members = name == "thinking" || name == "reasoning";
  if (given.kind == Kind::boolean) return has_members || name == "think" ? std::string_view() : kNoWord;
  if (!has_members || !(given.kind == Kind::dict || is_word(given)))
    return is_word(given) ? std::string_view() : kNoWord;
  if (is_word(given)) return kElsewhere;
  const Value inner = member_value(given, name == "reasoning" ? "effort" : "type");
  const Value enabled = member_value(given, "enabled");
  if (inner.is_undefined() && !enabled.is_undefined() && !enabled.is_none()) {
    if (name != "reasoning") return kElsewhere;
    if (enabled.kind != Kind::boolean) return kNoSwitch;
  }
  return inner.is_undefined() || inner.is_none() || is_word(inner) ? std::string_view() : kNoWord;
}

/// Members of a request that may say how much is to be reasoned; the first that does is heeded.
constexpr std::string_view kSaying[] = {"reasoning_effort", "reasoning", "think", "thinking"};

/// The members that say it, inside of one of these names: `enabled` is OpenRouter's. The first that does is heeded.
struct Inner {
  std::string_view name, inner;
};
constexpr Inner kInner[] = {{"reasoning", "effort"}, {"reasoning", "enabled"}, {"thinking", "type"}};

/// What one member asks for, "" for none. A word is an effort but in Anthropic's `thinking`, and true or false in
/// Ollama's `think` and OpenRouter's `enabled`.
std::string_view effort_in(std::string_view name, std::string_view inner, Value said) {
  if (name == "thinking")
    return is_text(&said, "disabled")                                ? "none"
           : is_text(&said, "enabled") || is_text(&said, "adaptive") ? kAnyEffort
                                                                     : std::string_view();
  const bool is_switch = inner == "enabled";
  if (said.is_leaf() && !is_switch) return leaf_text(said);
  if (said.kind != Kind::boolean || !(is_switch || name == "think")) return {};
  return said.integer != 0 ? kAnyEffort : "none";
}

/// All that a member or variable asks for; `act` gets the name inside, what it says and the effort.
template <typename Act>
void for_each_effort(std::string_view name, Value given, Act act) {
  bool has_inner = false;
  for (const Inner& row : kInner) {
    if (row.name != name) continue;
    has_inner = true;
    const Value said = member_value(given, row.inner);
    if (const std::string_view effort = effort_in(name, row.inner, said); !effort.empty()) act(row.inner, said, effort);
  }
  if (has_inner) return;
  if (const std::string_view effort = effort_in(name, {}, given); !effort.empty()) act({}, given, effort);
}

EffortSaid asked_for(Value variables) {
  for (const std::string_view name : kSaying) {
    const std::string_view effort = effort_said(name, member_value(variables, name));
    if (!effort.empty()) return {name, effort, {}};
  }
  return {};
}

/// The name that templates mostly have for Ollama's `think` is taken back where this template has other words for it,
/// or none: nothing would read it.
void take_back_switch(Normaliser& n) {
  constexpr std::string_view kSwitch = "enable_thinking";
  std::vector<Change>& changes = n.state.changes;
  const auto made = std::find_if(changes.begin(), changes.end(), [&](const Change& change) {
    return change.pass == Pass::ollama_think && change.variable == kSwitch;
  });
  const auto sets = [&](const EffortSetting& setting) {
    return std::any_of(setting.variables.begin(), setting.variables.end(),
                       [&](const EffortVariable& one) { return one.name == kSwitch; });
  };
  if (made == changes.end() || std::any_of(n.setting->efforts.begin(), n.setting->efforts.end(), sets)) return;
  changes.erase(made);
  take_variable(n.state, kSwitch);
}

/// What a template is set to where the request asks for reasoning and for no level of it: what all levels set alike,
/// and none sets otherwise.
std::vector<EffortVariable> variables_for_any(const Normaliser& n) {
  const std::span<const EffortVariable> none = variables_for(n, "none"), high = variables_for(n, "high");
  std::vector<EffortVariable> alike;
  for (const EffortVariable& one : variables_for(n, "low")) {
    const auto is_same = [&](const EffortVariable& other) { return other == one; };
    const auto switches = [&](const EffortVariable& other) { return other.name == one.name && other != one; };
    if (std::ranges::any_of(high, is_same) && std::ranges::any_of(none, switches)) alike.push_back(one);
  }
  return alike;
}

}  // namespace

std::string_view effort_said(std::string_view name, Value given) {
  std::string_view first;
  for_each_effort(name, given, [&](std::string_view, Value, std::string_view effort) {
    if (first.empty()) first = effort;
  });
  return first;
}

std::vector<EffortSaid> efforts_said(const ConversationState& state) {
  const Value request = state.converted.kind == Kind::dict ? state.converted : state.document.root();
  const Value kwargs = member_value(request, "chat_template_kwargs");
  std::vector<EffortSaid> all;
  for (const std::string_view name : kSaying) {
    if (member(state.variables, name) == nullptr) continue;  // overruled from outside the request
    const Value* own = member(kwargs, name);
    const Value given = own != nullptr ? *own : member_value(request, name);
    for_each_effort(name, given, [&](std::string_view inner, Value said, std::string_view effort) {
      std::string path = path_of_value(state, said);
      if (path.empty()) {
        path = (own != nullptr ? "chat_template_kwargs." : "") + std::string(name);
        if (!inner.empty()) path.append(".").append(inner);
      }
      all.push_back({name, effort, std::move(path)});
    });
  }
  return all;
}

bool contradict(std::string_view effort, std::string_view other) {
  if (effort == kAnyEffort || other == kAnyEffort) return effort == "none" || other == "none";
  return effort != other;
}

bool is_overruled(const ConversationState& state, std::string_view name) {
  const std::vector<EffortSaid> said = efforts_said(state);
  return std::ranges::any_of(
      said, [&](const EffortSaid& one) { return one.name == name && contradict(said.front().effort, one.effort); });
}

std::string_view effort_asked_for(Value variables) {
  const std::string_view effort = asked_for(variables).effort;
  return effort == kAnyEffort ? std::string_view() : effort;
}

bool says_effort(Value variables) { return !asked_for(variables).effort.empty(); }

void unsaid_effort(Normaliser& n) {
  for (const std::string_view name : {"reasoning_effort", "reasoning", "think", "thinking"}) {
    const Value* given = member(n.state.variables, name);
    if (given == nullptr) continue;
    if (given->is_none()) {
      take_variable(n.state, name);
      note(n, name);
    } else if (const std::string_view doubt = doubt_of(name, *given); !doubt.empty()) {
      note(n, name, doubt);
    }
  }
}

/// Is little reasoning asked for, and no other than much can be set? Where a level is set, what is noted says more.
static bool is_only_on(const Normaliser& n, std::string_view effort, std::span<const EffortVariable> variables) {
  if (effort != "minimal" && effort != "low") return false;
  const bool has_level =
      std::ranges::any_of(variables, [](const EffortVariable& one) { return one.value.starts_with('"'); });
  return !variables.empty() && !has_level && std::ranges::equal(variables, variables_for(n, "high"));
}

/// What the request sets itself stays as it is.
void reasoning_effort(Normaliser& n) {
  const EffortSaid asked = asked_for(n.state.variables);
  const std::string_view effort = asked.effort;
  if (effort.empty()) return;
  if (effort == kAnyEffort) {
    const std::vector<EffortVariable> variables = variables_for_any(n);
    if (!variables.empty()) take_back_switch(n);
    for (const EffortVariable& one : variables)
      set(n, effort, n.state.arena.copy_text(one.name), n.state.arena.copy_text(one.value));
    return;
  }
  take_back_switch(n);
  if (effort == "none" && n.setting->efforts.empty()) return;  // nothing is there to be switched off
  const std::span<const EffortVariable> variables = variables_for(n, effort);
  if (variables.empty())
    note(n, n.state.arena.copy_text(place_of_effort(n.state)), is_effort(effort) ? kNoEffect : kUnknown);
  for (const EffortVariable& variable : variables) set(n, effort, variable.name, variable.value);
  if (is_only_on(n, effort, variables)) note(n, n.state.arena.copy_text(place_of_effort(n.state)), kOnlyOn);
}

std::string place_of_effort(const ConversationState& state) {
  const std::vector<EffortSaid> said = efforts_said(state);
  return said.empty() ? "reasoning_effort" : said.front().path;
}

std::vector<std::string> notes_of_effort(const Conversation& conversation) {
  std::vector<std::string> notes;
  const std::vector<Change>& changes = inside_of(conversation).changes;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const bool is_one = changes[i].variable == "reasoning_effort" || changes[i].pass == Pass::reasoning_effort;
    if (is_one && !changes[i].what.empty()) notes.push_back(conversation.notes()[i]);
  }
  return notes;
}

void note_overruled_effort(ConversationState& state, std::string_view variable, std::string_view json) {
  const Value* before = member(state.variables, variable);
  if (before == nullptr || json_text(*before) == json) return;
  const auto of_effort = [&](const Change& change) {
    return change.variable == variable && change.pass == Pass::reasoning_effort;
  };
  for (const std::vector<Change>* changes : {&state.changes, &state.kept_for_effort}) {
    const auto found = std::find_if(changes->begin(), changes->end(), of_effort);
    if (found == changes->end()) continue;
    Change overruled = *found;
    overruled.what = kOverruled;
    state.changes.push_back(overruled);
    return;
  }
}

}  // namespace parlance::passes

namespace parlance {

std::span<const std::string_view> reasoning_efforts() { return passes::kEfforts; }

}  // namespace parlance
