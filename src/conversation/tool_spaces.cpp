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

std::vector<ToolOfSpace> tools_of_spaces(Value tools) {
  std::vector<ToolOfSpace> all;
  std::map<std::string, std::set<std::string>, std::less<>> spaces_of;  // of each name; "": it is in none
  for (const Value tool : tools_inside(tools)) {
    if (word_of_tool(tool, "type") != "namespace") {
      spaces_of[name_of_tool(tool)].insert("");
      continue;
    }
    const std::string space(word_of_tool(tool, "name"));
    for (const Value inner : tools_inside(member_value(tool, "tools"))) {
      const std::string_view type = word_of_tool(inner, "type");
      const std::string name = name_of_tool(inner);
      const bool is_named = !name.empty() && !space.empty() && (type.empty() || type == "function" || type == "custom");
      spaces_of[name].insert(is_named ? space : "");
      if (is_named) all.push_back({space, name, name});
    }
  }
  std::set<std::string, std::less<>> taken;
  for (const auto& [name, spaces] : spaces_of) taken.insert(name);
  std::map<std::pair<std::string_view, std::string_view>, const ToolOfSpace*> known;  // one may be there twice
  for (ToolOfSpace& tool : all) {
    if (spaces_of[tool.name].size() == 1) continue;
    const auto [same, is_new] = known.try_emplace({tool.space, tool.name}, &tool);
    tool.shown = is_new ? joined_name(tool.space, tool.name) : same->second->shown;
    if (!is_new) continue;
    // What another tool is called already may be that name, and the one with digits too.
    const std::string joined = tool.shown;
    std::string of = tool.space + "\n" + tool.name;
    for (; !taken.insert(tool.shown).second; of += "\n") tool.shown = name_with_digits(joined, of);
  }
  return all;
}

std::string shown_name(const std::vector<ToolOfSpace>& tools, std::string_view space, std::string_view name) {
  const auto found =
      std::ranges::find_if(tools, [&](const ToolOfSpace& tool) { return tool.space == space && tool.name == name; });
  if (found != tools.end()) return found->shown;
  const bool is_another = std::ranges::any_of(tools, [&](const ToolOfSpace& tool) { return tool.name == name; });
  return is_another ? joined_name(space, name) : std::string(name);
}

}  // namespace parlance
