// How much reasoning a request asks for, as the variables of one template. Begin reading at reasoning_effort.
#include "conversation/passes_for_templates.h"
#include "value/json_read.h"

namespace parlance::passes {
namespace {

constexpr std::string_view kNoEffect = "of no effect: the template reads nothing that comes near";

/// Takes what stands before `end` off `rest`, and the `end`.
std::string_view take_until(std::string_view& rest, char end) {
  const std::size_t size = std::min(rest.find(end), rest.size());
  const std::string_view taken = rest.substr(0, size);
  rest.remove_prefix(std::min(size + 1, rest.size()));
  return taken;
}

/// The settings of one effort: "enable_thinking:true,level:\"high\"" of the pass's argument.
std::string_view settings_of(std::string_view argument, std::string_view effort) {
  while (!argument.empty()) {
    std::string_view one = take_until(argument, ';');
    if (take_until(one, '=') == effort) return one;
  }
  return {};
}

/// Where the effort was asked for, and may be written anew.
bool is_source(Value variables, std::string_view name) {
  const Value* given = member(variables, name);
  return name == "reasoning_effort" || (given != nullptr && given->kind == Kind::dict);
}

void set(Normaliser& n, std::string_view name, std::string_view json) {
  const Value* given = member(n.state.variables, name);
  if (given != nullptr && !given->is_none() && !is_source(n.state.variables, name)) return;
  if (given != nullptr && given->is_leaf() && json.size() > 2 && is_text(given, json.substr(1, json.size() - 2))) return;
  const std::uint32_t origin = n.state.add_region(json, -1, false);
  const Result<Value> value = read_json_into(n.rt, Value::view(json), origin);
  if (!value) return;
  n.state.set_variable(Value::view(name), *value);
  n.variable = name;
  n.note();
}

}  // namespace

std::string_view effort_asked_for(Value variables) {
  const Value effort = member_value(variables, "reasoning_effort");
  if (effort.is_leaf()) return leaf_text(effort);
  const Value inner = member_value(member_value(variables, "reasoning"), "effort");
  if (inner.is_leaf()) return leaf_text(inner);
  const Value think = member_value(variables, "think");
  if (think.is_leaf()) return leaf_text(think);
  if (think.kind == Kind::boolean && think.integer == 0) return "none";
  const Value* type = member(member_value(variables, "thinking"), "type");
  return is_text(type, "disabled") ? "none" : "";
}

/// What the request sets itself stays as it is.
void reasoning_effort(Normaliser& n) {
  const std::string_view effort = effort_asked_for(n.state.variables);
  if (effort.empty()) return;
  std::string_view settings = settings_of(n.argument, effort);
  if (settings.empty()) {
    n.variable = "reasoning_effort";
    n.note();
    n.state.changes.back().what = kNoEffect;
  }
  while (!settings.empty()) {
    std::string_view one = take_until(settings, ',');
    const std::string_view name = take_until(one, ':');
    set(n, name, one);
  }
}

}  // namespace parlance::passes
