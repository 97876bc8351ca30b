// Begin reading at tools_of_spaces.
#include "conversation/tool_spaces.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/sha256.h"
#include "base/utf8.h"
#include "conversation/client_tools.h"
#include "value/dict.h"

namespace parlance {
namespace {

constexpr std::size_t kLongestName = 64;  // of a function, in OpenAI's APIs and Anthropic's
constexpr std::size_t kDigits = 8;

std::string_view word_of_tool(Value of, std::string_view name) {
  const Value found = member_value(of, name);
  return found.is_string() ? leaf_text(found) : std::string_view();
}

std::span<const Value> tools_inside(Value of) { return of.is(Kind::list) ? items(of) : std::span<const Value>(); }

/// The name that a tool has in a chat.
std::string name_of_tool(Value tool) {
  const std::string_view name = word_of_tool(tool, "name");
  if (!name.empty()) return std::string(name);
  const ClientTool* known = find_responses_client_tool(word_of_tool(tool, "type"));
  return known == nullptr ? std::string() : std::string(known->name);
}

/// With digits that depend on the namespace and the name alone, so that it stays the same in all of a conversation.
std::string name_with_digits(std::string_view joined, std::string_view of) {
  const std::string_view begin = utf8::whole_prefix(joined, kLongestName - kDigits - 1);
  return std::string(begin) + "_" + sha256(of).substr(0, kDigits);
}

std::string joined_name(std::string_view space, std::string_view name) {
  constexpr std::string_view kBetween = "__";
  std::string made(space);
  if (!made.ends_with(kBetween)) made += kBetween;
  made += name;
  return made.size() > kLongestName ? name_with_digits(made, made) : made;
}

}  // namespace

std::vector<Value> tool_lists_of(Value request) {
  std::vector<Value> lists;
  const auto add = [&lists](Value of) {
    if (const Value tools = member_value(of, "tools"); tools.is(Kind::list)) lists.push_back(tools);
  };
  add(request);
  for (const Value item : tools_inside(member_value(request, "input"))) {
    const std::string_view type = word_of_tool(item, "type");
    if (type == "additional_tools" || type == "tool_search_output") add(item);
  }
  return lists;
}

ToolSpaces::ToolSpaces(const std::vector<Value>& lists) {
  SpacesOf spaces_of;  // of each name; "": it is in none
  for (const Value list : lists) {
    for (const Value tool : tools_inside(list)) {
      if (word_of_tool(tool, "type") == "namespace")
        add_space(tool, spaces_of);
      else
        spaces_of[name_of_tool(tool)].insert("");
    }
  }
  if (!all_.empty()) name_shared(spaces_of);
}

void ToolSpaces::add_space(Value given, SpacesOf& spaces_of) {
  const std::string space(word_of_tool(given, "name"));
  for (const Value tool : tools_inside(member_value(given, "tools"))) {
    const std::string_view type = word_of_tool(tool, "type");
    const std::string name = name_of_tool(tool);
    const bool is_named = !name.empty() && !space.empty() && (type.empty() || type == "function" || type == "custom");
    spaces_of[name].insert(is_named ? space : "");
    if (is_named) all_.push_back({space, name, name});
  }
}

/// Names those tools otherwise whose name another one has.
void ToolSpaces::name_shared(const SpacesOf& spaces_of) {
  std::set<std::string, std::less<>> taken;
  for (const auto& [name, spaces] : spaces_of) taken.insert(name);
  for (ToolOfSpace& tool : all_) {
    names_.insert(tool.name);
    const auto [same, is_new] = known_.try_emplace({tool.space, tool.name}, &tool);
    if (!is_new) tool.shown = same->second->shown;  // it is there twice
    if (!is_new || spaces_of.find(tool.name)->second.size() == 1) continue;
    const std::string joined = joined_name(tool.space, tool.name);
    tool.shown = joined;
    // What another tool is called already may be that name, and the one with digits too.
    std::string of = tool.space + "\n" + tool.name;
    for (; !taken.insert(tool.shown).second; of += "\n") tool.shown = name_with_digits(joined, of);
  }
}

std::vector<std::string> ToolSpaces::shown_in(std::string_view space) const {
  std::vector<std::string> shown;
  for (auto tool = known_.lower_bound({space, {}}); tool != known_.end() && tool->first.first == space; ++tool)
    shown.push_back(tool->second->shown);
  return shown;
}

std::string ToolSpaces::shown_name(std::string_view space, std::string_view name) const {
  if (const auto found = known_.find({space, name}); found != known_.end()) return found->second->shown;
  return names_.contains(name) ? joined_name(space, name) : std::string(name);
}

}  // namespace parlance
